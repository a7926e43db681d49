import { compile, firstError, type Validator } from "./compile.ts";
import { langDescription } from "./description.ts";

/** Checks one language of a service description. */
export const validateLangDescription: Validator = compile(langDescription, firstError);
