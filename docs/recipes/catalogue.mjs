import { setTimeout as wait } from "node:timers/promises";

const timeoutMs = 60_000;
const defaultWaitSeconds = 10;
const maxWaitSeconds = 600;

/** An answer in JSON. A busy catalogue (429, 503) is asked once more, after its Retry-After. @throws a sentence */
export async function ask(url, options) {
	const place = String(url).split("?")[0];
	let answer = await send(place, url, options);
	if (answer.status === 429 || answer.status === 503) {
		const seconds = secondsOf(answer.headers.get("Retry-After"));
		if (seconds > maxWaitSeconds)
			throw new Error(`${place}: answers ${answer.status}, and wants ${seconds} s of rest`);
		await wait(1000 * seconds);
		answer = await send(place, url, options);
	}
	if (!answer.ok) throw new Error(`${place}: answers ${answer.status}`);
	return answer.json().catch(() => {
		throw new Error(`${place}: answers with something that is not JSON, or not complete`);
	});
}

async function send(place, url, options) {
	return fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMs) }).catch(({ message, cause }) => {
		throw new Error(`${place}: cannot be reached: ${cause?.code ?? message}`);
	});
}

/** Seconds of a Retry-After (RFC 9110, section 10.2.3): a number, or a date. */
function secondsOf(text) {
	const seconds = /^\d+$/.test(text ?? "") ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
	return Number.isNaN(seconds) ? defaultWaitSeconds : Math.max(0, seconds);
}
