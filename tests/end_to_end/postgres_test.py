"""Rows from a real PostgreSQL, which this test starts. Run by ctest with $PARLEY = the program."""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from data_test import PARLEY, SCHEMA, rows

PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))


def skip(reason):
    print("skipped: " + reason)
    sys.exit(0)


class Server:
    """In a folder of its own, heard on a socket in that folder alone."""

    def __init__(self):
        if not PROGRAMS or not os.path.exists(PROGRAMS[-1] + "/initdb"):
            skip("PostgreSQL is not installed (scripts/setup.sh postgres)")
        self.dir = tempfile.mkdtemp(prefix="parley-pg-")
        self.as_user = []
        if os.getuid() == 0:  # initdb refuses root
            if not shutil.which("runuser") or subprocess.run(["id", "postgres"], capture_output=True).returncode != 0:
                self.stop(started=False)
                skip("initdb refuses root, and there is no user postgres")
            shutil.chown(self.dir, "postgres")
            self.as_user = ["runuser", "-u", "postgres", "--"]
        for command in (["initdb", "-D", self.dir + "/data", "-A", "trust", "-U", "owner", "--no-sync"],
                        ["pg_ctl", "-D", self.dir + "/data", "-w", "-t", "60", "-l", self.dir + "/log",
                         "-o", f"-k {self.dir} -c listen_addresses='' -c fsync=off", "start"]):
            result = self.run(*command)
            if result.returncode != 0:
                self.stop(started=False)
                skip("PostgreSQL does not start here: " + (result.stdout + result.stderr).strip()[-300:])
        self.address = f"postgresql://owner@/postgres?host={self.dir}"

    def run(self, program, *arguments, stdin=None):
        return subprocess.run([*self.as_user, PROGRAMS[-1] + "/" + program, *arguments], cwd="/tmp", input=stdin, capture_output=True, text=True, timeout=120, env={**os.environ, "LC_ALL": "C"})

    def sql(self, text):
        result = self.run("psql", "-h", self.dir, "-U", "owner", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-tA", "-c", text)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def stop(self, started=True):
        if started:
            self.run("pg_ctl", "-D", self.dir + "/data", "-m", "immediate", "stop")
        shutil.rmtree(self.dir, ignore_errors=True)


class Postgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.sql("CREATE TABLE patients (id serial, age int, job text, y text)")
        values = ",".join("({},'{}','{}')".format(*line.split(",")) for line in rows(600).splitlines()[1:])
        cls.server.sql("INSERT INTO patients (age, job, y) VALUES " + values)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.temporary.name)
        (self.dir / "s.toml").write_text(SCHEMA)
        (self.dir / "a.csv").write_text(rows(600))

    def tearDown(self):
        self.temporary.cleanup()

    def parley(self, *arguments):
        return subprocess.run([PARLEY, *arguments], cwd=self.dir, capture_output=True, text=True, timeout=300)

    def train(self, *arguments):
        return subprocess.run([PARLEY, "train", "--schema", "s.toml", "--noise", "none", "--seed", "1", "--rounds", "4", "--nodes", "3", "--json", *arguments], cwd=self.dir, capture_output=True, text=True, timeout=300)

    def query(self, text, address=None):
        return self.train("--data", address or self.server.address, "--query", text)

    def test_a_query_gives_the_run_of_the_same_rows_in_a_file(self):
        results = []
        for run in (self.train("--data", "a.csv"), self.query("SELECT age, job, y FROM patients;")):
            self.assertEqual(run.returncode, 0, run.stderr)
            out = json.loads(run.stdout)
            results.append([out["test_error"], out["train_loss"]])
        self.assertEqual(*results)

    def test_every_command_that_reads_rows_takes_a_query(self):
        self.assertEqual(self.parley("train", "--schema", "s.toml", "--noise", "none", "--seed", "1", "--rounds", "4", "--data", "a.csv", "--out", "r").returncode, 0)
        for command in (["evaluate", "--model", "r/model.json", "--json", "--data"], ["predict", "--model", "r/model.json", "--data"],
                        ["data", "check", "--schema", "s.toml"], ["data", "describe"]):
            expected = self.parley(*command, "a.csv")
            got = self.parley(*command, self.server.address, "--query", "SELECT age, job, y FROM patients")
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertTrue(expected.stdout)
            self.assertEqual(got.stdout.replace(self.server.address, "a.csv"), expected.stdout)
            for wrong, words in (("DELETE FROM patients", "the query is not a plain one"), ("", "a database needs a query")):
                refused = self.parley(*command, self.server.address, *(["--query", wrong] if wrong else []))
                self.assertEqual(refused.returncode, 1)
                self.assertIn(words, refused.stderr)

    def test_a_condition_takes_rows_in_the_order_of_the_table(self):
        lines = rows(600).splitlines()
        kept = [line for line in lines[1:] if int(line.split(",")[0]) >= 20 and line.split(",")[1] != "nurse"]
        self.assertGreater(len(kept), 50)
        (self.dir / "kept.csv").write_text("\n".join([lines[0], *kept]) + "\n")
        self.server.sql("CREATE INDEX IF NOT EXISTS by_age ON patients (age); ANALYZE patients")
        results = []
        for run in (self.train("--data", "kept.csv"), self.query("SELECT age, job, y FROM public.patients WHERE age >= 20 AND NOT (job = 'nurse' OR y IS NULL)")):
            self.assertEqual(run.returncode, 0, run.stderr)
            out = json.loads(run.stdout)
            results.append([out["test_error"], out["train_loss"]])
        self.assertEqual(*results)

    def test_one_persons_row_cannot_change_the_others(self):
        for text in ("SELECT age - avg(age) OVER () AS age, job, y FROM patients", "SELECT age, job, y FROM patients ORDER BY age",
                     "SELECT DISTINCT age, job, y FROM patients", "SELECT age, job, y FROM patients LIMIT 300"):
            run = self.query(text)
            self.assertEqual(run.returncode, 1)
            self.assertIn("the query is not a plain one", run.stderr)

    def test_null_is_a_missing_cell(self):
        self.server.sql("CREATE OR REPLACE VIEW gaps AS SELECT CASE WHEN id = 5 THEN NULL ELSE age END AS age, job, y FROM patients ORDER BY id")
        run = self.query("SELECT age, job, y FROM gaps")
        self.assertEqual(run.returncode, 1)
        self.assertIn(":6: column 'age' is missing; got ''", run.stderr)

    def test_text_with_quotes_commas_and_line_ends_arrives_whole(self):
        self.server.sql("CREATE OR REPLACE VIEW odd AS SELECT age, E'a, \"b\"\\nc' AS job, y FROM patients ORDER BY id")
        run = self.query("SELECT age, job, y FROM odd")
        self.assertIn("got 'a, \"b\"\nc'", run.stderr)

    def test_a_wrong_query_and_a_query_that_writes_are_refused(self):
        run = self.query("SELECT nothing FROM patients")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the database refuses the query", run.stderr)
        self.assertIn('column "nothing" does not exist', run.stderr)
        run = self.query("DELETE FROM patients RETURNING age, job, y")
        self.assertIn("the query is not a plain one", run.stderr)
        self.server.sql("CREATE OR REPLACE FUNCTION empties() RETURNS int AS 'DELETE FROM patients; SELECT 1' LANGUAGE sql;"
                        "CREATE OR REPLACE VIEW writes AS SELECT empties() AS age, job, y FROM patients")
        run = self.query("SELECT age, job, y FROM writes")
        self.assertIn("read-only transaction", run.stderr)
        self.assertEqual(self.server.sql("SELECT count(*) FROM patients"), "600")

    def test_a_query_that_breaks_off_leaves_no_run(self):
        self.server.sql("CREATE OR REPLACE VIEW breaks AS SELECT 1 / (400 - id) AS age, job, y FROM patients ORDER BY id")
        run = self.query("SELECT age, job, y FROM breaks")
        self.assertEqual(run.returncode, 1)
        self.assertIn("division by zero", run.stderr)

    def test_without_a_query_or_a_server_it_says_what_to_do(self):
        self.assertIn("a database needs a query", self.train("--data", self.server.address).stderr)
        run = self.query("SELECT age FROM patients", f"postgresql://owner@/postgres?host={self.dir}")
        self.assertIn("the database cannot be reached", run.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        schema = pathlib.Path(folder) / "s.toml"
        schema.write_text(SCHEMA)
        probe = subprocess.run([PARLEY, "train", "--data", "postgresql://x@/x?host=/nonexistent", "--query", "SELECT a FROM t", "--schema", schema], capture_output=True, text=True)
    if "built without PostgreSQL" in probe.stderr:
        skip("parley was built without PostgreSQL (libpq-dev)")
    unittest.main()
