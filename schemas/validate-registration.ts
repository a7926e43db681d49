import { compile, everyError, type Validator } from "./compile.ts";
import { registration1 } from "./registration-1.ts";
import { registration2 } from "./registration-2.ts";

/** Checks a registration of version 1.x. */
export const validateRegistration1: Validator = compile(registration1, everyError);

/** Checks a registration of version 2.0. */
export const validateRegistration2: Validator = compile(registration2, everyError);
