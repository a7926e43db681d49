import Ajv, { type ErrorObject } from "ajv";
import schema from "./registration.schema.json";

/** A compiled schema: true when `value` fits; otherwise its `errors` say why, all of them. */
export interface Validator {
	(value: unknown): boolean;
	errors?: ErrorObject[] | null;
}

/**
 * The settings that every schema here is compiled with. A worker cannot compile at run time (no code generation
 * there), so its bundle carries the output of ajv's standalone mode in place of this module.
 */
export const ajvOptions = { allErrors: true, verbose: true, strict: false } as const;

/** Checks a registration against registration.schema.json. */
export const validateRegistration: Validator = new Ajv(ajvOptions).compile(schema);
