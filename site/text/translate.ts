import type { Lang } from "../../registry/smallkey.ts";
import { type Countable, codeFor, fillText } from "../../registry/texts/pairs.ts";

type Value = string | number;

/** @param texts code → text, as `fillText` takes them */
export function translator<Code extends string>(lang: Lang, texts: Readonly<Record<Code, string>>) {
	const locale = `${lang}-CA`;
	const shown = (value: Value) =>
		typeof value === "number" ? value.toLocaleString(locale, { maximumFractionDigits: 4 }) : value;
	const t = (code: Code, ...values: readonly Value[]) => fillText(texts, { code, values }, shown);
	/** `{0}` is the number. In French, zero is singular. */
	const plural = (number: number, code: Countable<Code>, ...values: readonly Value[]) =>
		t(codeFor<Code>(lang, number, code), number, ...values);
	const nameText = (code: string, name: string) => (Object.hasOwn(texts, code) ? t(code as Code) : name);
	return {
		t,
		plural,
		dayText: (day: Date) => day.toLocaleDateString(locale, { dateStyle: "long", timeZone: "UTC" }),
		stateText: (state: string) => nameText(`state-${state}`, state),
		typeText: (type: string) => nameText(`type-${type}`, type),
		copyText: (name: string) => nameText(`copy-${name}`, name),
	};
}
