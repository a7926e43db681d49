import { folderOf } from "../../registry/smallkey.ts";
import { readerOf } from "../reader.ts";
import { isReviewBranch, type Meta, type Reader, type Refusal, twinWaits } from "../store.ts";
import { listOf } from "./answer.ts";
import { filesAt } from "./commit-files.ts";
import { readHead } from "./history.ts";
import type { ChangeContext } from "./pending-commits.ts";

const folder = "register/";

/**
 * Returns a function that refuses a new smallkey of which another spelling waits for review, or returns null. What it needs
 * of the open pull requests, it reads once.
 */
export function createFindTwin({ github, branch }: Pick<ChangeContext, "github" | "branch">) {
	let reading: ReturnType<typeof readWaiting> | null = null;

	/** The smallkeys that wait on branches of their own, and readers of the branches of several layers. */
	async function readWaiting() {
		const { rest, repo, paginate } = github;
		const listed = paginate(rest.pulls.list, { ...repo, state: "open", base: branch, per_page: 100 });
		const start = `${repo.owner}:${folder}`;
		const labels = (await listOf(listed, "list the pull requests")).map(({ head }) => head.label ?? "");
		const names = labels.filter((label) => label.startsWith(start)).map((label) => label.slice(start.length));
		const groups = names.filter((name) => name.includes(".") && isReviewBranch(`${folder}${name}`));
		const readers = groups.map(async (name) =>
			readerOf(filesAt(github, await readHead(github, `${folder}${name}`))),
		);
		return { names, readers: await Promise.all(readers) };
	}

	/** @param now the state without the change */
	return async ({ smallkey }: Meta, now: Reader): Promise<Refusal | null> => {
		if (smallkey === null || (await now.ids(smallkey)) !== null) return null;
		reading ??= readWaiting();
		const { names, readers } = await reading;
		const inGroups = await Promise.all(readers.map((reader) => reader.keys(folderOf(smallkey), smallkey)));
		const isTwin = (other: string) => other !== smallkey && other.toLowerCase() === smallkey.toLowerCase();
		const twin = [...names, ...inGroups.flat()].find(isTwin);
		return twin === undefined ? null : twinWaits(smallkey, twin);
	};
}
