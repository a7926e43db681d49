import { dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import type { App } from "./apps.ts";
import { byHand, type Finding, fixable, right } from "./finding.ts";
import type { Target } from "./repository.ts";

/** Name of our ruleset, by which it is found again. */
const rulesetName = "layers";

/** The App that GitHub Actions is, on github.com: the source of what a workflow's job says. */
const actionsAppId = 15_368;

/** Branches of the service and of `npx fragments refresh`, which no rule may hold up. */
const freeBranches = ["register/example", "refresh"];

/** What the ruleset is made of. */
export interface RulesetOptions {
	branch: string;
	service: App;
	workflow: App;
	/** Whether GitHub itself asks the owners for their approval (`.github/CODEOWNERS`). */
	codeowners: boolean;
}

/** A ruleset as GitHub's REST API takes it ("Create a repository ruleset"). */
function rulesetOf({ branch, service, workflow, codeowners }: RulesetOptions) {
	const bypass = (app: App) => ({
		actor_id: app.id,
		actor_type: "Integration" as const,
		bypass_mode: "always" as const,
	});
	return {
		name: rulesetName,
		target: "branch" as const,
		enforcement: "active" as const,
		conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] as string[] } },
		bypass_actors: [bypass(service), bypass(workflow)],
		rules: [
			{ type: "deletion" as const },
			{ type: "non_fast_forward" as const },
			{
				type: "pull_request" as const,
				parameters: {
					// The status `owners` counts the approvals, also of people without write access.
					required_approving_review_count: codeowners ? 1 : 0,
					dismiss_stale_reviews_on_push: codeowners,
					require_code_owner_review: codeowners,
					require_last_push_approval: codeowners,
					required_review_thread_resolution: false,
				},
			},
			{
				type: "required_status_checks" as const,
				parameters: {
					strict_required_status_checks_policy: false,
					required_status_checks: [
						{ context: "layers", integration_id: workflow.id },
						{ context: "owners", integration_id: workflow.id },
						{ context: "check", integration_id: actionsAppId },
					],
				},
			},
		],
	};
}

/** Whether one value has all that another wants: members and elements beside those may be there; `false` wants nothing. */
function includesAll(value: unknown, wanted: unknown): boolean {
	if (wanted === false || wanted === 0) return true;
	if (Array.isArray(wanted)) {
		return Array.isArray(value) && wanted.every((one) => value.some((other) => includesAll(other, one)));
	}
	if (typeof wanted === "object" && wanted !== null) {
		const members = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
		return Object.entries(wanted).every(([name, one]) => includesAll(members[name], one));
	}
	return value === wanted;
}

/** The rules of the branch, in a ruleset of their own. */
export async function rulesetFindings(
	{ rest, repo, paginate }: Github,
	options: RulesetOptions,
): Promise<Finding[]> {
	const what = `ruleset ${rulesetName} for ${options.branch}`;
	const wanted = rulesetOf(options);
	const all = await paginate(rest.repos.getRepoRulesets, { ...repo, includes_parents: false, per_page: 100 });
	const listed = all.find(({ name }) => name === rulesetName);
	if (!listed)
		return [fixable(what, "is not there", () => rest.repos.createRepoRuleset({ ...repo, ...wanted }))];
	const about = { ...repo, ruleset_id: listed.id };
	const { data } = await rest.repos.getRepoRuleset(about);
	if (includesAll(data, wanted)) return [right(what)];
	const lacking = Object.entries(wanted)
		.filter(([name, one]) => !includesAll((data as unknown as Record<string, unknown>)[name], one))
		.map(([name]) => name);
	const update = () => rest.repos.updateRepoRuleset({ ...about, ...wanted });
	return [fixable(what, `is another one in: ${lacking.join(", ")}`, update)];
}

/** Rules that would stop the service: of other rulesets, the organisation's too, and of the older kind. */
export async function otherRuleFindings(
	{ rest, repo }: Github,
	target: Target,
	branch: string,
): Promise<Finding[]> {
	const findings: Finding[] = [];
	for (const free of freeBranches) {
		const what = `branch ${free}, free of rules`;
		const { data } = await rest.repos.getBranchRules({ ...repo, branch: free });
		const types = data.map(({ type }) => type).join(", ");
		const how = "exclude refs/heads/register/** and refs/heads/refresh from the ruleset";
		findings.push(
			data.length === 0
				? right(what)
				: byHand(what, `has the rules ${types}: ${how}, see ${target.webUrl}/settings/rules`),
		);
	}
	const older = await dataOrNull(
		rest.repos.getBranchProtection({ ...repo, branch }),
		"show the branch's protection",
	);
	const what = `older protection of ${branch}`;
	const how = `take it away at ${target.webUrl}/settings/branches: the ruleset has its rules`;
	findings.push(older ? byHand(what, `is on, and knows no Apps' bypass: ${how}`) : right(what));
	return findings;
}
