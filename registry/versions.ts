import type { FromSchema } from "json-schema-to-ts";
import type { registration1 } from "../schemas/registration-1.ts";
import type { registration2 } from "../schemas/registration-2.ts";

/** A registration of version 1.x: one kind of service for both languages. */
export interface Registration1 extends FromSchema<typeof registration1> {}

/** A registration of version 2.0: each language's node says what kind of service it is. */
export interface Registration2 extends FromSchema<typeof registration2> {}

/** The payload of a PUT and the content of a layer's file (specification, "Layer registration"). */
export type Registration = Registration1 | Registration2;

/** Whether a registration is of version 2.0. */
export function isVersion2(registration: Registration): registration is Registration2 {
	return !("payload_type" in registration);
}
