import type { Reply } from "../reply.ts";
import { isWriteMethod } from "../write-routes.ts";

/** One line for each write and each answer from 400 up, with the id that the answer gets; no signature is in it. */
export function logAnswer(
	request: Request,
	target: string,
	reply: Reply,
	log: (fields: object) => void,
): void {
	const isWrite = isWriteMethod(request.method);
	if (reply.status < 400 && !isWrite) return;
	const id = request.headers.get("CF-Ray") ?? crypto.randomUUID();
	reply.headers["X-Request-Id"] = id;
	const path = target.split("?", 1)[0];
	const sender = isWrite ? request.headers.get("Sender") : null;
	log({ id, method: request.method, path, status: reply.status, sender });
}
