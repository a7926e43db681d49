/** How long a local store waits, and how much it leaves. Times in milliseconds, by the monotonic clock. */
export const ordinaryLimits = {
	/** Longest silence of a git process that is awaited: it is ended then, and replaced. */
	silenceMs: 15_000,
	/** Longest time of one short git command. */
	commandMs: 20_000,
	/** Longest time of a repack, which runs in the background. */
	repackMs: 600_000,
	/** Longest wait of a change until its turn. */
	waitMs: 25_000,
	/** Longest time that `close` waits for what is under way. */
	closeMs: 40_000,
	/** How long a lock stays the same file until it is taken for that of a killed process. */
	lockMs: 2_000,
	/** How often the branch is checked for pushes. */
	lookMs: 200,
	/** How often a writer at rest is asked for a sign of life, and a store that failed is tried again. */
	probeMs: 5_000,
	/** Commits after which another process writes: git keeps what it has seen of a repository in memory. */
	writerCommits: 5_000,
	/** Reads after which a reader is replaced. */
	readerReads: 50_000,
	/** Packs that are repacked at rest, and those after which a repack does not wait for rest. */
	packsAtRest: 50,
	packsAtMost: 200,
	/** Time since the last change that is taken for rest. */
	restMs: 3_000,
};

export type StoreLimits = typeof ordinaryLimits;
