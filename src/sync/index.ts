/** Keeps the replicas of a memory and their home the same. */
export {}
