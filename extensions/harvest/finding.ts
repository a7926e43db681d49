import type { Registration } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { type Cause, causeText, type SickState, sickStates } from "../../site/data/health.ts";
import { type CheckResult, checkResult } from "./health.ts";
import type { Service } from "./service.ts";

export interface Finding {
	/** `well`: a part was not seen. */
	state: SickState | "well";
	lang: Lang;
	/** JSON pointer into the registration: `/en/service_url`. */
	pointer: string;
	what: Cause;
	/** One line in English, which may quote the service. */
	text: string;
}

export function findingOf(
	{ lang, address }: Pick<Service, "lang" | "address">,
	{ state, what, member = "service_url" }: Pick<Finding, "state" | "what"> & { member?: string },
): Finding {
	return { state, lang, pointer: `/${lang}/${member}`, what, text: `${address}: ${causeText("en", what)}` };
}

export function isSick(finding: Finding): finding is Finding & { state: SickState } {
	return finding.state !== "well";
}

/** `<JSON pointer>: <address>: <cause>`, for a publisher. */
export type FindingLine = Readonly<Record<Lang, string>>;

export function findingLines(registration: Registration, findings: readonly Finding[]): FindingLine[] {
	return findings.map(({ lang, pointer, what, text }) => {
		const address = registration[lang].service_url;
		return { en: `${pointer}: ${text}`, fr: `${pointer}: ${address} : ${causeText("fr", what)}` };
	});
}

/** The worst finding; null if nothing is wrong. */
export function resultOf(findings: readonly Finding[]): CheckResult | null {
	for (const state of sickStates) {
		const finding = findings.find((other) => other.state === state);
		if (finding) return checkResult(state, finding.what);
	}
	return null;
}
