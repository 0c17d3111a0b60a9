"""A study of four with on-loss = "continue" that loses its second party for ever, in the middle."""
from mesh_case import *

LOST = "hospital_b"


class LossCase(Case):
    def until(self, condition, study, seconds=120):
        end = time.time() + seconds
        while not condition():
            self.assertLess(time.time(), end, "it takes too long\n" + study.logs())
            time.sleep(0.01)

    def lose(self, algorithm, base=None, rounds=400, **more):
        """Starts it, and kills one as soon as it has released twenty rounds."""
        study = Study((base or self.dir) / algorithm, algorithm, parties=4, rounds=rounds, wait=8.0, deadline=1.0, options={"on_loss": '"continue"'}, **more)
        self.start_all(study)
        lines = study.out(LOST, "rounds.jsonl")
        self.until(lambda: lines.exists() and lines.read_bytes().count(b"\n") > 20, study)
        self.processes[LOST].kill()
        self.processes[LOST].wait()
        return study, LOST, [n for n in study.all if n != LOST]
