"""Opening sources: where they are, how they are judged, and one object that reads, follows and replays them."""
