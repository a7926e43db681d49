import { compile, everyError, type Validator } from "./compile.ts";
import { owners } from "./definitions.ts";

export const validateOwners: Validator = compile(owners, everyError);
