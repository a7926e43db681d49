import { type Github, isAnswered } from "../../store/github/answer.ts";
import { nullIfRefused } from "../pulls.ts";
import { check, type Finding } from "./finding.ts";
import type { Target } from "./repository.ts";

/**
 * The two Apps: no workflow has the service's key. Permissions have GitHub's names ("Registering a GitHub App using URL
 * parameters").
 */
const purposes = {
	service: {
		option: "--service-app",
		what: "the service's App",
		suffix: "service",
		permissions: { contents: "write", pull_requests: "write" },
	},
	workflow: {
		option: "--workflow-app",
		what: "the workflows' App",
		suffix: "workflows",
		permissions: { contents: "write", pull_requests: "write", checks: "write", members: "read" },
	},
};

type Purpose = keyof typeof purposes;

export interface App {
	id: number;
	login: string | null;
}

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

/** Finds an App by the name in its address. @throws {Error} if GitHub shows no App of that name */
export async function findApp({ rest }: Github, slug: string): Promise<App> {
	try {
		const { data } = await rest.apps.getBySlug({ app_slug: slug });
		if (data) return { id: data.id, login: `${slug}[bot]` };
	} catch (error) {
		if (!isAnswered(error)) throw error;
	}
	throw new Error(`GitHub shows no App called ${slug}; its name is in its address, github.com/apps/NAME`);
}

/** The App for each purpose; null if it is not known yet. */
export type Apps = Readonly<Record<Purpose, App | null>>;

const allPurposes = Object.keys(purposes) as Purpose[];

/** A finding for each App; for an App that is not known yet, it says how to make one. */
export function appFindings(target: Target, apps: Apps): Finding[] {
	return allPurposes.map((purpose) => {
		const { what, option } = purposes[purpose];
		const app = apps[purpose];
		if (app) return check(`${what}, ${app.id}`, false);
		const address = registrationAddress(target, purpose);
		const after = `make a private key there, install the App on ${target.owner.login}/${target.name} only`;
		return check(
			what,
			`press the button at ${address} , ${after}, and run this again with ${option} <its name>`,
		);
	});
}

/** Whether the Apps are installed. GitHub shows it only for an organisation, to a token of one of its owners. */
export async function installationFindings(
	{ rest, paginate }: Github,
	{ owner, html_url }: Target,
	apps: Apps,
): Promise<Finding[]> {
	const known = allPurposes.flatMap((purpose) => {
		const app = apps[purpose];
		return app ? [{ what: purposes[purpose].what, app }] : [];
	});
	if (known.length === 0) return [];
	const page = `${html_url}/settings/installations`;
	const parameters = { org: owner.login, per_page: 100 };
	const installed =
		owner.type === "Organization" &&
		// GitHub shows them to the organisation's owners only.
		(await paginate(rest.orgs.listAppInstallations, parameters).catch(nullIfRefused));
	if (!installed) {
		const text = `look whether both are listed at ${page}`;
		return [{ what: "installation of the Apps", state: "unseen", text }];
	}
	return known.map(({ what, app }) => {
		const one = installed.find(({ app_id }) => app_id === app.id);
		const problem = !one
			? `is not there: install it, see ${page}`
			: one.suspended_at !== null && `is suspended: see ${page}`;
		return check(`installation of ${what}`, problem);
	});
}
