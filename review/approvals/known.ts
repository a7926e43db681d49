import type { Owners } from "../../registry/owners.ts";
import { dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { readTeams } from "./github.ts";

/** An owner who cannot approve anything. */
export interface UnknownOwner {
	/** `@organisation/team` or `@login`. */
	owner: string;
	reason: string;
}

/** The owners who can never approve: teams without members, and names of no account. */
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
