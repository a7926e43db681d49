import { type Description, parseDescription } from "../registry/description.ts";
import { harvestedLangs, parseRegistration, type Registration } from "../registry/registration.ts";
import type { Layer } from "../store/store.ts";

/** A layer's service description; null if it has no valid one. */
export function descriptionOf({ description }: Layer): Description | null {
	return description === null ? null : parseDescription(description);
}

/** The registration of a layer; null if it is invalid. */
export function registrationOf({ registration }: Layer): Registration | null {
	return parseRegistration(new TextEncoder().encode(registration), "stored").registration;
}

/** The registration of a layer that is harvested; null if it is not harvested, or its registration is invalid. */
export function harvestedOf(layer: Layer): Registration | null {
	const registration = registrationOf(layer);
	return registration && harvestedLangs(registration).length > 0 ? registration : null;
}
