import { dataOf, isAnswered } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";

/** How long a pull request has been closed before its branch goes: somebody may open it again. */
const keepMs = 60 * 60_000;

/** Prefixes of the service's own branches. */
const prefixes = ["heads/register/", "heads/refresh"];

/**
 * Removes the service's branches whose pull request was closed or merged. One that has another commit than the pull
 * request had is of a newer change, and stays.
 * @returns their names
 */
export async function removeClosedBranches({ rest, repo, paginate }: Github, now: Date): Promise<string[]> {
	const removed: string[] = [];
	for (const prefix of prefixes) {
		const listed = paginate(rest.git.listMatchingRefs, { ...repo, ref: prefix, per_page: 100 });
		const refs = await dataOf(
			listed.then((data) => ({ data })),
			"list the branches",
		);
		for (const { ref, object } of refs) {
			const branch = ref.replace("refs/heads/", "");
			if (prefix === "heads/refresh" && branch !== "refresh") continue;
			const asked = rest.pulls.list({
				...repo,
				state: "all",
				head: `${repo.owner}:${branch}`,
				per_page: 100,
			});
			const pulls = await dataOf(asked, "list the pull requests");
			const isOpen = pulls.some(({ state }) => state === "open");
			const last = pulls.find(({ head }) => head.sha === object.sha);
			const closedMs = last?.closed_at ? Date.parse(last.closed_at) : Number.POSITIVE_INFINITY;
			if (isOpen || closedMs + keepMs > now.getTime()) continue;
			await rest.git.deleteRef({ ...repo, ref: `heads/${branch}` }).catch((error: unknown) => {
				// It has gone meanwhile.
				if (!isAnswered(error)) throw error;
			});
			removed.push(branch);
		}
	}
	return removed;
}
