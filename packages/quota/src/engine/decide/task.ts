import type { Answer } from '../../store/quota-store.ts'

/**
 * An operation of the engine, written once for synchronous and asynchronous stores. It yields each promise to await,
 * and resumes with its value. With stores that declare `sync`, it yields nothing.
 */
export type Task<T> = Generator<PromiseLike<unknown>, T, unknown>

/** Runs a task: {@link runSync} or {@link runAsync}. */
export type Run = <T>(task: Task<T>) => Answer<T>

/** Runs a task with synchronous stores. */
export function runSync<T>(task: Task<T>): T {
  const step = task.next()
  if (step.done !== true) throw new TypeError('a store that declares `sync` returned a promise')
  return step.value
}

/** Runs a task, and awaits what it yields. The part before the first `yield` runs synchronously. */
export async function runAsync<T>(task: Task<T>): Promise<T> {
  let step = task.next()
  while (step.done !== true) {
    let value: unknown
    try {
      value = await step.value
    } catch (error) {
      step = task.throw(error)
      continue
    }
    step = task.next(value)
  }
  return step.value
}

/** Returns the value of an answer: directly from a synchronous store, otherwise awaited. */
export function* answered<T>(sync: boolean, answer: Answer<T>): Task<T> {
  return sync ? (answer as T) : ((yield answer as PromiseLike<T>) as T)
}
