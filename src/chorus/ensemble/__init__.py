"""What is predicted and from whom it is learnt: pure mathematics, written for one transition."""
