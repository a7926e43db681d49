import { compile, everyError, type Validator } from "./compile.ts";
import { owners } from "./owners.ts";

/** Checks the content of layers/owners.json. */
export const validateOwners: Validator = compile(owners, everyError);
