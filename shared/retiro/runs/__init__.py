"""The one batch engine: prepare, approve by hash, post, pause, resume, close. It knows nothing of yields.

A run's truth lies in three places. The ledger says what was posted. The run and chunk items of the registry say how
far the work is, and are changed only on condition. The objects in the bucket say what was prepared and what came of
it; they are named by their content, and count only when a chunk item names them.
"""
