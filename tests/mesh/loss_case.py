"""A study of four with on-loss = "continue" that loses its second party for ever, in the middle."""
from mesh_case import *

LOST = "hospital_b"


class LossCase(Case):
    def lose(self, algorithm, base=None, rounds=400, **more):
        """Starts it, and kills one as soon as it has released twenty rounds."""
        study = Study((base or self.dir) / algorithm, algorithm, parties=4, rounds=rounds, wait=8.0, deadline=1.0, options={"on_loss": '"continue"'}, **more)
        self.start_all(study)
        self.await_rounds(study, LOST, 21)
        self.processes[LOST].kill()
        self.processes[LOST].wait()
        return study, LOST, [n for n in study.all if n != LOST]
