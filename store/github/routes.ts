import type { Octokit } from "@octokit/rest";

/** Octokit with the plugins of `@octokit/rest`. */
export type Rest = InstanceType<typeof Octokit>;

/** GitHub's routes, typed: `github.rest.git.getTree({ ...github.repo, tree_sha })`. */
export interface Github {
	rest: Rest["rest"];
	paginate: Rest["paginate"];
	/** The repository, as a part of each request's parameters. */
	repo: { owner: string; repo: string };
}
