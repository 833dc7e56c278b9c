/**
 * What a port answers: at once where it is declared `sync: true`, else by a promise or anything else that can be
 * awaited. Which of the two it is goes by the declaration, never by a look at the answer.
 */
export type Answer<T> = T | PromiseLike<T>

/**
 * Waits for an answer by the declared kind of who gave it. It comes in a box: what a store that answers at once gave is a
 * value, also where it has a `then`.
 */
export async function boxed<T>(
  { sync }: { readonly sync: boolean },
  answer: Answer<T>,
): Promise<{ readonly value: T }> {
  return { value: sync ? (answer as T) : await answer }
}
