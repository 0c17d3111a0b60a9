"""A study of four with on-loss = "continue" that loses its second party for ever, in the middle."""
from mesh_case import *

LOST = "hospital_b"


class LossCase(Case):
    def begin_and_lose(self, algorithm, base=None, rounds=400, **more):
        """Starts it, and kills one as soon as it has released twenty rounds. Four deadlines later the others go on."""
        study = Study((base or self.dir) / algorithm, algorithm, parties=4, rounds=rounds, deadline=0.2, options={"on_loss": '"continue"'}, **more)
        self.start_all(study)
        self.await_rounds(study, LOST, 21)
        self.lose(study, LOST)
        return study, LOST, [n for n in study.all if n != LOST]
