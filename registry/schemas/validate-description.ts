import { compile, firstError, type Validator } from "./compile.ts";
import { langDescription } from "./description.ts";

export const validateLangDescription: Validator = compile(langDescription, firstError);
