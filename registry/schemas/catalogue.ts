import { type CauseCode, causes } from "../causes.ts";
import { sickStates } from "../health.ts";
import { described, document, exactly, list, nullable, string } from "./definitions.ts";

/** A text in both languages. */
const both = exactly({ en: string(), fr: string() });

/** JSON Schema (draft-07) of a layer in the catalogue, with the values for its row, its page and the filters. */
export const entry = exactly(
	{
		smallkey: { type: "string", pattern: "^[A-Za-z0-9_+=-]{1,64}$" },
		type: string("wms, feature, or the service type of a registration of version 2.0."),
		title: both,
		address: described(
			"Of the service, as registered; fr is left out where it is the same.",
			{ en: string() },
			{ fr: string() },
		),
	},
	{
		description: {
			...described(
				"At most 300 characters of the service's description; left out where there is none.",
				{},
				{ en: string(), fr: string() },
			),
			minProperties: 1,
		},
		keywords: {
			...described("The service's keywords by language.", {}, { en: list(string()), fr: list(string()) }),
			minProperties: 1,
		},
		layers: list(
			string(),
			"Names or numbers of the layers inside the service, where they are not part of the address.",
		),
		sender: {
			description: "Public name of the sender who registered it last, where the operator has set one.",
			anyOf: [string(), both],
		},
		changed: described(
			"The last commit that changed it, by its first 12 digits; left out where the history is not complete.",
			{
				commit: { type: "string", pattern: "^[0-9a-f]{12}$" },
				date: {
					description: "When it was committed: UTC, whole seconds.",
					type: "string",
					pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$",
				},
			},
		),
		health: nullable(
			exactly(
				{
					state: {
						description:
							"wrong: the registration is; down: the service does not answer; empty: the service draws nothing; blocked: browsers do not show it on an https site; moved: its service redirects permanently, and a repair waits.",
						enum: sickStates,
					},
					since: { type: "string", pattern: "^\\d{4}-W\\d{2}$" },
				},
				{
					cause: string("What was seen last, in English, such as `answers with status 503`."),
					code: {
						description: "The same as a code. The texts of all codes are in registry/causes.ts.",
						enum: Object.keys(causes) as CauseCode[],
					},
					values: list(string(), "The values in the text of the code."),
					repair: { description: "Whether a repair of the layer waits for a decision.", const: true },
				},
			),
			"What is wrong, and the week in which it was first seen; null where it was not checked yet; left out where no problem was seen.",
		),
		bounds: {
			description: "West, south, east, north in degrees (RFC 7946, section 5); left out where unknown.",
			type: "array",
			items: { type: "number" },
			minItems: 4,
			maxItems: 4,
		},
		thumbnail: string("Path of its picture below the site, where there is one."),
		unread: list(
			string(),
			"<target>/<lang> of each form in which it cannot be read; left out where it can be read in all.",
		),
	},
);

/** JSON Schema (draft-07) of a chunk of the catalogue's index. */
export const catalogueChunk = document(
	"catalogue-chunk",
	"The entries of some layers, sorted by smallkey",
	exactly({
		version: { description: "A reader ignores a chunk of another version.", const: 3 },
		entries: { ...list(entry), minItems: 1 },
	}),
);
