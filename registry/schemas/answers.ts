import type { FromSchema } from "json-schema-to-ts";
import { document, having, list, nullable, string } from "./definitions.ts";

type Declared<T> = T extends object
	? T extends readonly unknown[]
		? T
		: { [K in keyof T as string extends K ? never : K]: Declared<T[K]> }
	: T;

export const receipt = document("receipt", "Receipt of a write", {
	type: "object",
	required: ["smallkey", "commit", "changed", "fragments", "published", "warnings"],
	properties: {
		smallkey: string(),
		key: string("The same, for older clients."),
		commit: string("The commit that holds the change."),
		changed: { type: "boolean" },
		fragments: list(string(), "Where the layer is read."),
		published: { type: "boolean" },
		branch: string("Of a change that waits for a reviewer."),
		pull_request: string("Its address."),
		draft: string("With PUBLIC_URL: a page with it on a map."),
		warnings: list(string(), "As <JSON pointer>: <what is odd>."),
		status: string("Where to follow harvest and health."),
	},
});

export type Receipt = Declared<FromSchema<typeof receipt>>;

export const errors = document(
	"errors",
	"Why a request was refused",
	having({
		errors: {
			...list(string(), "As <place>: <rule>; the first 20, and how many more there are."),
			minItems: 1,
		},
	}),
);

/** At v0.9. */
export const missing = document(
	"missing",
	"A smallkey that was not found",
	having({ error_code: { const: 404 }, smallkey: string("As it was asked for.") }),
);

const time = { type: "string", format: "date-time" } as const;
const findings = list(string(), "What services said that is wrong, as <JSON pointer>: <text>.");

const inBoth = { en: string(), fr: string() } as const;

const repair = {
	description: "A repair that waits for a reviewer. Texts of rows may quote a service.",
	...having({
		branch: string("Where it waits."),
		commit: string("To accept exactly this."),
		sure: { enum: ["same", "perhaps"] },
		from: having({}, inBoth),
		to: having({}, inBoth),
		rows: list(
			having({
				langs: list({ enum: ["en", "fr"] }),
				code: string("What is compared: name, fields, place."),
				text: having(inBoth),
				before: string(),
				after: string(),
				agrees: { type: "boolean" },
			}),
		),
	}),
} as const;

export const layerStatus = document("layer-status", "How a layer is", {
	...having({
		smallkey: string(),
		registered: nullable(time, "When it was last registered, if that is known."),
		commit: { description: "By which commit.", type: ["string", "null"] },
		etag: {
			description: "Of the registration, for If-Match; null where none is registered.",
			type: ["string", "null"],
		},
		review: nullable(
			having({ branch: string(), commit: string(), since: time }),
			"The change that waits for a reviewer.",
		),
		declined: nullable(
			having({ commit: string(), at: time, reason: string() }),
			"The last change, where a reviewer has declined it.",
		),
		harvest: having(
			{
				state: {
					description:
						"none: the layer is not harvested. off: this service does not harvest. failed: no service answered.",
					enum: ["none", "off", "waiting", "done", "failed"],
				},
			},
			// `at` is absent where it ended before the process started.
			{ at: time, findings, next_try: time },
		),
		health: {
			description: "Its health when it was last checked as a viewer would use it.",
			...having(
				{ state: { enum: ["unknown", "well", "wrong", "down", "empty", "blocked", "moved"] } },
				{
					since: string("The week since when it is sick: 2026-W09."),
					repair,
					at: time,
					findings,
				},
			),
		},
	}),
});

/** It is public: without ids of senders. Times are ISO 8601, in UTC. */
export type LayerStatus = Declared<FromSchema<typeof layerStatus>>;

export type WaitingRepair = Declared<FromSchema<typeof repair>>;
