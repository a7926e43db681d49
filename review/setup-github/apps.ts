import { isAnswered } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { byHand, type Finding, right, unseen } from "./finding.ts";
import type { Target } from "./repository.ts";

/** A GitHub App that the repository needs. */
interface AppPurpose {
	option: string;
	what: string;
	suffix: string;
	/** By GitHub's names (GitHub, "Registering a GitHub App using URL parameters"). */
	permissions: Readonly<Record<string, "read" | "write">>;
}

/** The two: no workflow holds the service's key. */
export const purposes = {
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
} as const satisfies Record<string, AppPurpose>;

export type Purpose = keyof typeof purposes;

/** An App that is known. */
export interface App {
	id: number;
	/** `name[bot]`, where it is known. */
	login: string | null;
}

/** The address of a form with all fields of an App filled in; a person presses the button. */
export function registrationAddress(
	{ owner, name, isOrganization, webUrl }: Target,
	purpose: Purpose,
): string {
	const { suffix, permissions } = purposes[purpose];
	const origin = new URL(webUrl).origin;
	const account = isOrganization ? `/organizations/${owner}` : "";
	const query = new URLSearchParams({
		name: `${name} ${suffix}`.slice(0, 34),
		url: webUrl,
		public: "false",
		webhook_active: "false",
	});
	for (const [permission, level] of Object.entries(permissions)) {
		// Only an organisation has members.
		if (permission !== "members" || isOrganization) query.set(permission, level);
	}
	return `${origin}${account}/settings/apps/new?${query}`;
}

/** Finds an App by the name in its address. @throws {Error} where GitHub shows none of that name */
export async function findApp({ rest }: Github, slug: string): Promise<App> {
	try {
		const { data } = await rest.apps.getBySlug({ app_slug: slug });
		if (data) return { id: data.id, login: `${slug}[bot]` };
	} catch (error) {
		if (!isAnswered(error)) throw error;
	}
	throw new Error(`GitHub shows no App called ${slug}; its name is in its address, github.com/apps/NAME`);
}

/** What is to be done where an App is not known yet. */
export function appFindings(target: Target, purpose: Purpose, app: App | null): Finding[] {
	const { what, option } = purposes[purpose];
	if (app) return [right(`${what}, ${app.id}`)];
	const address = registrationAddress(target, purpose);
	const after = `make a private key there, install the App on ${target.owner}/${target.name} only`;
	return [
		byHand(what, `press the button at ${address} , ${after}, and run this again with ${option} <its name>`),
	];
}

/** GitHub shows an organisation's installations to its owners only. */
function isForbidden(error: unknown): boolean {
	return isAnswered(error) || (error instanceof Error && /^GitHub answers 403 /.test(error.message));
}

/** Whether the Apps are installed where the token may see it: in an organisation, by an owner of it. */
export async function installationFindings(
	{ rest, paginate }: Github,
	{ owner, isOrganization, webUrl }: Target,
	apps: readonly [Purpose, App | null][],
): Promise<Finding[]> {
	const known = apps.flatMap(([purpose, app]) => (app ? [{ what: purposes[purpose].what, app }] : []));
	if (known.length === 0) return [];
	const page = `${webUrl}/settings/installations`;
	const byEye = [unseen("installation of the Apps", `look whether both are listed at ${page}`)];
	if (!isOrganization) return byEye;
	const listed = paginate(rest.orgs.listAppInstallations, { org: owner, per_page: 100 });
	const installed = await listed.catch((error: unknown) => {
		if (isForbidden(error)) return null;
		throw error;
	});
	if (!installed) return byEye;
	return known.map(({ what, app }) => {
		const name = `installation of ${what}`;
		const one = installed.find(({ app_id }) => app_id === app.id);
		if (!one) return byHand(name, `is not there: install it, see ${page}`);
		return one.suspended_at ? byHand(name, `is suspended: see ${page}`) : right(name);
	});
}
