import { compile, everyError, type Validator } from "./compile.ts";
import { registration1 } from "./registration-1.ts";

/** Checks a registration of version 1.x. */
export const validateRegistration1: Validator = compile(registration1, everyError);
