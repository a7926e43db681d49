import type { Environment } from "../../api/configuration.ts";

/** Where the workflows' secrets are: the App's key, and those of the hosting. */
export const environmentNames = ["review", "production"] as const;

export type EnvironmentName = (typeof environmentNames)[number];

/** A secret that the workflows need, and the environment that keeps it. */
export interface NeededSecret {
	name: string;
	environment: EnvironmentName;
}

/** Variables of the workflows whose values are taken from the environment of this command. */
const settable = [
	"HOSTING",
	"PUBLIC_URL",
	"CLOUDFLARE_ACCOUNT_ID",
	"WORKERS_PLAN",
	"OBJECTS_ENDPOINT",
	"OBJECTS_BUCKET",
	"OBJECTS_REGION",
	"BASE_PATH",
	"METADATA_URL",
	"CATALOGUE_URL",
	"MAP_WKID",
	"TARGETS",
	"V2_MAP_SERVER",
	"SITE",
	"BASE_MAP",
	"BASE_MAP_ATTRIBUTION",
	"REPOSITORY_URL",
] as const;

/** The variables that are set in the environment. */
export function variablesFrom(environment: Environment): Map<string, string> {
	return new Map(settable.flatMap((name) => (environment[name] ? [[name, environment[name]] as const] : [])));
}

/** How a variable's value is found. */
type Variable = (name: string) => string | undefined;

/** Variables that have to be there for the hosting, with what to do. */
export function neededVariables(variable: Variable): { name: string; text: string }[] {
	const hosting = variable("HOSTING");
	const needed: { name: string; text: string }[] = [];
	const need = (name: string, example: string) =>
		needed.push({ name, text: `is not set: run this again with ${name}=${example} in front` });
	need("HOSTING", "workers, objects, or none where npx fragments follow serves");
	if (hosting !== undefined && ["workers", "objects", "none"].includes(hosting))
		need("PUBLIC_URL", "the address that readers use, once it is known");
	if (hosting === "workers") need("CLOUDFLARE_ACCOUNT_ID", "the id beside the account's name");
	if (hosting === "objects") {
		need("OBJECTS_ENDPOINT", "https://<account>.r2.cloudflarestorage.com");
		need("OBJECTS_BUCKET", "the bucket's name");
	}
	return needed;
}

/** Secrets that the workflows need for what the variables say. */
export function neededSecrets(variable: Variable): NeededSecret[] {
	const hosting = variable("HOSTING");
	const deploys = hosting === "workers" || (hosting === "objects" && variable("CLOUDFLARE_ACCOUNT_ID"));
	const ofHosting = [
		...(deploys ? ["CLOUDFLARE_API_TOKEN"] : []),
		...(hosting === "objects" ? ["OBJECTS_ACCESS_KEY_ID", "OBJECTS_SECRET_ACCESS_KEY"] : []),
	];
	return [
		{ name: "WORKFLOW_APP_PRIVATE_KEY", environment: "review" },
		...ofHosting.map((name) => ({ name, environment: "production" as const })),
	];
}
