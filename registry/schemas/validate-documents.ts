import { compile, everyError, type Validator } from "./compile.ts";
import { owners } from "./definitions.ts";
import { registration1, registration2 } from "./registration.ts";

export const validateRegistration1: Validator = compile(registration1, everyError);

export const validateRegistration2: Validator = compile(registration2, everyError);

export const validateOwners: Validator = compile(owners, everyError);
