import type { Configuration } from "../../../api/service/settings.ts";
import { readTextIfThere } from "../../../store/files/if-there.ts";
import { dataOrNull, type Github } from "../../../store/github/answer.ts";
import { checkApps, checkInstallations, findApps } from "./apps.ts";
import { checkInto, type Outcome, reasonOf, type Setup, type Target } from "./checklist.ts";
import { checkCode, checkRepository, createRepository, pushHead, targetToBe } from "./repository.ts";
import { checkOtherRules, checkRulesets } from "./rulesets.ts";
import {
	checkActions,
	checkEnvironment,
	checkLabels,
	checkSecrets,
	checkSettings,
	checkVariables,
	parsePublished,
	readVariables,
	settingsPath,
	variablesFrom,
} from "./settings.ts";

interface SetupOptions {
	dryRun?: true | undefined;
	/** Creates the repository if there is none. */
	create?: "public" | "private" | undefined;
	serviceApp?: string | undefined;
	workflowApp?: string | undefined;
	configuration: Configuration;
	/** A token of a person who may administer the repository. */
	token: string;
}

const unseenAfterMaking =
	"GitHub does not show the new repository to this token: a fine-grained one has to be for all repositories; run this again with such a token";

/** Checks everything that a repository needs, and corrects what it can. */
export async function setUp(github: Github, options: SetupOptions) {
	const { configuration, token, dryRun = false, serviceApp, workflowApp } = options;
	const branch = configuration.github?.branch ?? "main";
	const outcomes: Outcome[] = [];
	const check = checkInto(outcomes, dryRun);
	const target = await findTarget(check, github, options);
	if (!target && outcomes[0]?.state === "set") await check("settings of the repository", unseenAfterMaking);
	if (!target) return { outcomes, target };
	const stored = await readVariables(github).catch(() => new Map<string, string>());
	const names = { service: serviceApp, workflow: workflowApp };
	const { apps, unknown: unknownApps } = await findApps(github, names, stored);
	const wanted = variablesFrom(apps);
	const published = parsePublished((await readTextIfThere(settingsPath)) ?? "");
	const setup: Setup = { check, outcomes, github, target, branch, apps, unknownApps, wanted, published };
	await checkRepository(setup);
	if (target.archived) return { outcomes, target };
	const push = () => pushHead(target, branch, token, configuration.network.httpsProxy);
	const checks: [what: string, inspect: (setup: Setup) => Promise<void>][] = [
		["code", () => checkCode(setup, push)],
		["labels", checkLabels],
		["Actions", checkActions],
		["environment review", () => checkEnvironment(setup, "review")],
		["environment production", () => checkEnvironment(setup, "production")],
		["Apps", checkApps],
		["installation of the Apps", checkInstallations],
		["settings", checkSettings],
		["variables", checkVariables],
		["secrets", checkSecrets],
		["rulesets", checkRulesets],
		["other rules", checkOtherRules],
	];
	// A check that fails is an outcome, and the others follow.
	for (const [what, inspect] of checks)
		await inspect(setup).catch((error: unknown) => check(what, `cannot be checked: ${reasonOf(error)}`));
	return { outcomes, target };
}

/** Finds the repository, or creates it if `create` is given; null if there is none. */
async function findTarget(
	check: Setup["check"],
	github: Github,
	{ create, dryRun, configuration }: SetupOptions,
): Promise<Target | null> {
	const { owner, repo } = github.repo;
	const slug = `${owner}/${repo}`;
	const read = () => dataOrNull(github.rest.repos.get(github.repo), "show the repository");
	const target = await read();
	const isPrivate = create === "private";
	const what = `repository ${slug}`;
	const how = "GitHub shows none to this token: run this again with --create public or --create private";
	if (target) await check(what, false);
	else if (create) await check(what, "new", () => createRepository(github, isPrivate));
	else await check(what, how);
	if (target || !create) return target;
	return dryRun ? targetToBe(github, isPrivate, configuration) : read();
}
