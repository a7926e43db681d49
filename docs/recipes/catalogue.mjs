const timeoutMs = 60_000;

/** An answer in JSON. @throws a sentence */
export async function ask(url, options) {
	const place = String(url).split("?")[0];
	const signal = AbortSignal.timeout(timeoutMs);
	const answer = await fetch(url, { ...options, signal }).catch(({ message, cause }) => {
		throw new Error(`${place}: cannot be reached: ${cause?.code ?? message}`);
	});
	if (!answer.ok) throw new Error(`${place}: answers ${answer.status}; run this again`);
	return answer.json().catch(() => {
		throw new Error(`${place}: answers with something that is not JSON, or not complete`);
	});
}
