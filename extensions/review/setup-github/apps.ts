import { dataOrNull, type Github } from "../../../store/github/answer.ts";
import { nullIfRefused } from "../pulls.ts";
import type { App, Setup, Target } from "./checklist.ts";

/**
 * The two Apps: no workflow has the service's key. Permissions have GitHub's names ("Registering a GitHub App using URL
 * parameters").
 */
const purposes = {
	service: {
		what: "the service's App",
		suffix: "service",
		permissions: { contents: "write", pull_requests: "write" },
	},
	workflow: {
		what: "the workflows' App",
		suffix: "workflows",
		// A ruleset names an App as the source of a check only if it may write statuses ("Available rules for rulesets").
		permissions: {
			...{ contents: "write", pull_requests: "write", checks: "write", statuses: "write" },
			members: "read",
		},
	},
};

type Purpose = keyof typeof purposes;

const allPurposes: readonly Purpose[] = ["service", "workflow"];

/** The address of GitHub's form for a new App, with all fields filled in; a person presses the button. */
function registrationAddress({ owner, name, html_url }: Target, purpose: Purpose): string {
	const { suffix, permissions } = purposes[purpose];
	const isOrganization = owner.type === "Organization";
	const account = isOrganization ? `/organizations/${owner.login}` : "";
	const query = new URLSearchParams({
		name: `${name} ${suffix}`.slice(0, 34),
		url: html_url,
		public: "false",
		webhook_active: "false",
	});
	for (const [permission, level] of Object.entries(permissions)) {
		// Only an organisation has members.
		if (permission !== "members" || isOrganization) query.set(permission, level);
	}
	return `${new URL(html_url).origin}${account}/settings/apps/new?${query}`;
}

/**
 * Finds the Apps, and the names among the options by which GitHub shows none.
 * @param names the names in their addresses, by the options; without one an App is that of an earlier run
 * @param stored the variables that an earlier run has set
 * @throws {Error} if both are the same
 */
export async function findApps(
	{ rest }: Github,
	names: Readonly<Record<Purpose, string | undefined>>,
	stored: ReadonlyMap<string, string>,
) {
	const unknown = new Map<Purpose, string>();
	const find = async (purpose: Purpose): Promise<App | null> => {
		const slug = names[purpose];
		if (slug) {
			const found = await dataOrNull(rest.apps.getBySlug({ app_slug: slug }), `show the App ${slug}`);
			if (found) return { id: found.id, login: `${slug}[bot]` };
			unknown.set(purpose, slug);
			return null;
		}
		const variable = `${purpose.toUpperCase()}_APP`;
		const id = Number(stored.get(`${variable}_ID`));
		const isKnown = Number.isSafeInteger(id) && id > 0;
		return isKnown ? { id, login: stored.get(`${variable}_LOGIN`) ?? null } : null;
	};
	const apps = { service: await find("service"), workflow: await find("workflow") };
	if (apps.service && apps.service.id === apps.workflow?.id)
		throw new Error(
			"--workflow-app: must be another App than --service-app: no workflow may hold the service's key",
		);
	return { apps, unknown };
}

/** Checks that both Apps are known; for one that is not, the problem says how to make it. */
export async function checkApps({ check, target, apps, unknownApps }: Setup): Promise<void> {
	for (const purpose of allPurposes) {
		const { what } = purposes[purpose];
		const app = apps[purpose];
		const address = registrationAddress(target, purpose);
		const after = `make a private key there, install the App on ${target.owner.login}/${target.name} only`;
		const how = `press the button at ${address} , ${after}, and run this again with --${purpose}-app <its name>`;
		const name = unknownApps.get(purpose);
		const wrong = `GitHub shows no App called ${name}; its name is in its address, github.com/apps/NAME`;
		await check(app ? `${what}, ${app.id}` : what, !app && (name ? wrong : how));
	}
}

/** Checks that the Apps are installed. GitHub shows it only for an organisation, to a token of one of its owners. */
export async function checkInstallations({ check, outcomes, github, target, apps }: Setup): Promise<void> {
	const { rest, paginate } = github;
	const { owner, html_url } = target;
	const known = allPurposes.filter((purpose) => apps[purpose]);
	if (known.length === 0) return;
	const page = `${html_url}/settings/installations`;
	const listed =
		owner.type === "Organization"
			? paginate(rest.orgs.listAppInstallations, { org: owner.login, per_page: 100 })
			: null;
	// GitHub shows them to the organisation's owners only.
	const installed = await listed?.catch(nullIfRefused);
	if (!installed) {
		const text = `look whether both are listed at ${page}`;
		outcomes.push({ what: "installation of the Apps", state: "unseen", text });
		return;
	}
	for (const purpose of known) {
		const one = installed.find(({ app_id }) => app_id === apps[purpose]?.id);
		const isSuspended = one !== undefined && one.suspended_at !== null;
		const problem = one ? `is suspended: see ${page}` : `install it, see ${page}`;
		await check(`installation of ${purposes[purpose].what}`, (!one || isSuspended) && problem);
	}
}
