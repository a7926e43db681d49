import type { Owners } from "../../registry/owners.ts";
import { dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { readTeams } from "./github.ts";

/** An owner whom GitHub does not know as somebody who could approve. */
export interface UnknownOwner {
	/** `@organisation/team` or `@login`. */
	owner: string;
	reason: string;
}

/** The owners of whom nobody could ever approve: teams without members, and what is no account. */
export async function unknownOwners(github: Github, owners: Owners): Promise<UnknownOwner[]> {
	const unknown: UnknownOwner[] = [];
	for (const [owner, members] of await readTeams(github, owners)) {
		if (members === null)
			unknown.push({ owner, reason: "there is no such team, or the token may not see it" });
		else if (members.length === 0) unknown.push({ owner, reason: "the team has no members" });
	}
	const names = [...owners.operators, ...owners.rules.flatMap((rule) => rule.owners)];
	for (const owner of new Set(names.filter((name) => !name.includes("/")))) {
		const asked = github.rest.users.getByUsername({ username: owner.slice(1) });
		if (!(await dataOrNull(asked, `show ${owner}`)))
			unknown.push({ owner, reason: "there is no such account" });
	}
	return unknown;
}

/** What GitHub itself finds wrong in `.github/CODEOWNERS` of a branch, a line each; null where it has none there. */
export async function codeownersErrors({ rest, repo }: Github, branch: string): Promise<string[] | null> {
	const asked = rest.repos.codeownersErrors({ ...repo, ref: branch });
	const found = await dataOrNull(asked, "show the errors of CODEOWNERS");
	if (found === null) return null;
	return found.errors.map(({ path, line, kind, source }) => `${path}:${line}: ${kind}: ${source ?? ""}`);
}
