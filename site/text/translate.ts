import type { Lang } from "../../registry/smallkey.ts";
import { fillText } from "../../registry/texts/pairs.ts";

type Value = string | number;

type Countable<Code extends string> = Code extends `${infer Several}-one` ? Several : never;

/** @param texts code → text, as `fillText` takes them */
export function translator<Code extends string>(lang: Lang, texts: Readonly<Record<Code, string>>) {
	const locale = `${lang}-CA`;
	const shown = (value: Value) =>
		typeof value === "number" ? value.toLocaleString(locale, { maximumFractionDigits: 4 }) : value;
	const t = (code: Code, ...values: readonly Value[]) => fillText(texts, { code, values }, shown);
	/** Of `changes` and `changes-one`; `{0}` is the number. In French, zero is singular. */
	const plural = (number: number, code: Countable<Code>, ...values: readonly Value[]) => {
		const isOne = lang === "fr" ? number < 2 : number === 1;
		return t((isOne ? `${code}-one` : code) as Code, number, ...values);
	};
	const nameText = (code: string, name: string) => (Object.hasOwn(texts, code) ? t(code as Code) : name);
	return {
		t,
		plural,
		/** In French, the first day of a month is `1er`. */
		dayText: (day: Date) => {
			const text = day.toLocaleDateString(locale, { dateStyle: "long", timeZone: "UTC" });
			return text.replace(/^1 /, "1er ");
		},
		stateText: (state: string) => nameText(`state-${state}`, state),
		typeText: (type: string) => nameText(`type-${type}`, type),
		copyText: (name: string) => nameText(`copy-${name}`, name),
	};
}
