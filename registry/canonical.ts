import { registration1 } from "../schemas/registration-1.ts";
import { registration2 } from "../schemas/registration-2.ts";
import { isVersion2, type Registration } from "./versions.ts";

/** The parts of a JSON Schema that define the order of members. */
interface Part {
	$ref?: string;
	const?: unknown;
	enum?: readonly unknown[];
	properties?: Readonly<Record<string, Part>>;
	oneOf?: readonly Part[];
	discriminator?: { propertyName: string };
	definitions?: Readonly<Record<string, Part>>;
	[keyword: string]: unknown;
}

type Json = Record<string, unknown>;

/**
 * The canonical text of a registration: members in the schema's order, two-space indent, a final newline. Equal
 * registrations give equal texts.
 */
export function canonicalText(registration: Registration): string {
	const schema: Part = isVersion2(registration) ? registration2 : registration1;
	return `${JSON.stringify(ordered(registration, schema, schema), null, 2)}\n`;
}

/** Reorders the members of all objects in a value by their order in a schema. */
function ordered(value: unknown, part: Part, root: Part): unknown {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
	const { properties = {} } = shapeOf(value as Json, part, root);
	const members: Json = {};
	// `for in` allocates no list of the names: this runs for every write.
	for (const name in properties) {
		if (Object.hasOwn(value, name))
			members[name] = ordered((value as Json)[name], properties[name] as Part, root);
	}
	return members;
}

/** The part of a schema that lists an object's members, with references and `oneOf` resolved. */
function shapeOf(value: Json, part: Part, root: Part): Part {
	if (part.$ref)
		return shapeOf(value, root.definitions?.[part.$ref.slice("#/definitions/".length)] ?? {}, root);
	const { oneOf, discriminator } = part;
	if (!oneOf || !discriminator) return part;
	const name = discriminator.propertyName;
	for (const one of oneOf) {
		const shape = shapeOf(value, one, root);
		if (allows(shape.properties?.[name], value[name])) return shape;
	}
	return {};
}

function allows(part: Part | undefined, value: unknown): boolean {
	return part?.const === value || (part?.enum?.includes(value) ?? false);
}
