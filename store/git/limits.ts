/** How long, and how much, a local store lets things go on. Times in milliseconds, by the monotonic clock. */
export interface StoreLimits {
	/** Longest silence of a git process that is waited for: it is ended then, and another one takes its place. */
	silenceMs: number;
	/** Longest time of one short git command. */
	commandMs: number;
	/** Longest time of a repack, which nobody waits for. */
	repackMs: number;
	/** Longest wait of a change until its turn. */
	waitMs: number;
	/** Longest time that an end waits for what is under way. */
	closeMs: number;
	/** How long a lock stays the same file until it counts as a killed process's. */
	lockMs: number;
	/** How often the branch is looked at for pushes. */
	lookMs: number;
	/** How often a writer at rest is asked for a sign of life, and a store that failed is tried again. */
	probeMs: number;
	/** Moves of the branch after which another process makes them: git keeps what it has seen of a repository in memory. */
	writerMoves: number;
	/** Reads after which a reader is replaced. */
	readerReads: number;
	/** Packs that are left to gather at rest, and those after which nobody waits for rest. */
	packsAtRest: number;
	packsAtMost: number;
	/** Time since the last change that counts as rest. */
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
	writerMoves: 2_000,
	readerReads: 50_000,
	packsAtRest: 50,
	packsAtMost: 200,
	restMs: 3_000,
};
