/** How long a local store waits, and how much it leaves. Times in milliseconds, by the monotonic clock. */
export interface StoreLimits {
	/** Longest silence of a git process that is awaited: it is ended then, and replaced. */
	silenceMs: number;
	/** Longest time of one short git command. */
	commandMs: number;
	/** Longest time of a repack, which runs in the background. */
	repackMs: number;
	/** Longest wait of a change until its turn. */
	waitMs: number;
	/** Longest time that `close` waits for what is under way. */
	closeMs: number;
	/** How long a lock stays the same file until it is taken for that of a killed process. */
	lockMs: number;
	/** How often the branch is checked for pushes. */
	lookMs: number;
	/** How often a writer at rest is asked for a sign of life, and a store that failed is tried again. */
	probeMs: number;
	/** Commits after which another process writes: git keeps what it has seen of a repository in memory. */
	writerCommits: number;
	/** Reads after which a reader is replaced. */
	readerReads: number;
	/** Packs that are repacked at rest, and those after which a repack does not wait for rest. */
	packsAtRest: number;
	packsAtMost: number;
	/** Time since the last change that is taken for rest. */
	restMs: number;
}

export const ordinaryLimits: StoreLimits = {
	silenceMs: 15_000,
	commandMs: 20_000,
	repackMs: 600_000,
	waitMs: 25_000,
	closeMs: 40_000,
	lockMs: 2_000,
	lookMs: 200,
	probeMs: 5_000,
	writerCommits: 5_000,
	readerReads: 50_000,
	packsAtRest: 50,
	packsAtMost: 200,
	restMs: 3_000,
};
