import { GithubBusy, LostAnswer, spread } from "./client.ts";
import { Conflict } from "./refusal.ts";

/** How long, and by what clock, a change is built again. */
export interface RaceOptions {
	now: () => Date;
	/** Waits a number of milliseconds. */
	sleep: (ms: number) => Promise<void>;
	/** A number from 0 to 1, for jitter. */
	random: () => number;
	/** How long a change is built again because others were faster. */
	raceMs: number;
}

/** Tries again while others are faster, or it is not known whether the branch was written. */
export type RetryRaces = <T>(deadline: number, attempt: () => Promise<T>) => Promise<T>;

const maxAttempts = 5;

/** What a publisher may wait before trying again when others change the layers at the same moment. */
const retryAfterSeconds = 2;

/** @returns what tries an attempt again, each from a fresh read */
export function createRetryRaces({ now, sleep, random, raceMs }: RaceOptions): RetryRaces {
	return async (deadline, attempt) => {
		const until = Math.min(deadline, now().getTime() + raceMs);
		for (let attempts = 1; ; attempts += 1) {
			try {
				return await attempt();
			} catch (error) {
				if (!(error instanceof Conflict) && !(error instanceof LostAnswer)) throw error;
				const pauseMs = 50 * 2 ** attempts * (0.5 + random());
				if (attempts === maxAttempts || now().getTime() + pauseMs >= until) {
					if (error instanceof LostAnswer || !error.isRace) throw error;
					const seconds = spread(retryAfterSeconds, random);
					throw new GithubBusy("others change the layers at the same moment", seconds, error.message);
				}
				await sleep(pauseMs);
			}
		}
	};
}
