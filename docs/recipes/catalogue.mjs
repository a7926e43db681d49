import { setTimeout as wait } from "node:timers/promises";

const timeoutMs = 60_000;
const [defaultWaitSeconds, maxWaitSeconds] = [10, 600];

/** An answer in JSON. A busy catalogue (429, 503) is asked once more, after its Retry-After in seconds. @throws a sentence */
export async function ask(url, options) {
	const place = String(url).split("?")[0];
	const send = () =>
		fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMs) }).catch(({ message, cause }) => {
			throw new Error(`${place}: cannot be reached: ${cause?.code ?? message}`);
		});
	let answer = await send();
	if (answer.status === 429 || answer.status === 503) {
		const seconds = Number(answer.headers.get("Retry-After") ?? defaultWaitSeconds) || 0;
		await wait(1000 * Math.min(seconds, maxWaitSeconds));
		answer = await send();
	}
	if (!answer.ok) throw new Error(`${place}: answers ${answer.status}`);
	return answer.json().catch(() => {
		throw new Error(`${place}: answers with something that is not JSON, or not complete`);
	});
}
