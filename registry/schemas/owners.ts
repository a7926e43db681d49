import { document, exactly, list, ref } from "./definitions.ts";

/** JSON Schema (draft-07) of layers/owners.json. */
export const owners = document("owners", "layers/owners.json: who approves changes of which layers", {
	...exactly(
		{
			operators: ref(
				"owners",
				"Owners of all files that are not layers, and of layers that no glob below matches.",
			),
			layers: {
				description:
					"Glob of smallkeys (* is any run of characters, ? is one) to its owners. The most specific glob applies.",
				type: "object",
				propertyNames: { pattern: "^[A-Za-z0-9_+=*?-]{1,64}$", code: "glob" },
				additionalProperties: ref("owners"),
			},
		},
		{
			senders: {
				description: "Sender to the people who have its secret: they cannot approve what it sends.",
				type: "object",
				propertyNames: { pattern: "^[A-Za-z0-9._-]{1,64}$", code: "sender-name" },
				additionalProperties: ref("owners"),
			},
		},
	),
	definitions: {
		owners: {
			...list({
				description:
					"A GitHub team or account: @organisation/team, or @login#id. npx fragment-publisher owners writes the id.",
				type: "string",
				pattern: "^@[A-Za-z0-9][A-Za-z0-9_-]{0,38}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99}|#[1-9][0-9]{0,14})?$",
				code: "owner-name",
			}),
			minItems: 1,
			maxItems: 20,
		},
	},
});
