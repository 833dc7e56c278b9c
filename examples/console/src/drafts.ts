/** What a form has, and whether something in it would be lost. */
interface Draft {
  readonly value: unknown
  readonly isUnsaved: boolean
}

/**
 * The unsaved input of all forms. It outlives their pages: it is still there after a visit to another page or a new
 * sign-in. It is kept in memory only.
 */
export class Drafts {
  readonly #drafts = new Map<string, Draft>()
  readonly #listeners = new Set<() => void>()

  get(key: string): unknown {
    return this.#drafts.get(key)?.value
  }

  set(key: string, value: unknown, isUnsaved: boolean): void {
    this.#drafts.set(key, { value, isUnsaved })
    for (const listener of [...this.#listeners]) listener()
  }

  /** Forgets a form that is not looked at any more, if nothing is lost by it. */
  leave(key: string): void {
    if (this.#drafts.get(key)?.isUnsaved !== true) this.#drafts.delete(key)
  }

  /** Forgets the forms of a page, whatever is in them. @param href of the page */
  forget(href: string): void {
    for (const key of this.#drafts.keys()) if (key.startsWith(draftKey(href, ''))) this.#drafts.delete(key)
    for (const listener of [...this.#listeners]) listener()
  }

  /** The addresses of the pages whose forms have something that is not saved. */
  unsaved(): string[] {
    const keys = [...this.#drafts].filter(([, { isUnsaved }]) => isUnsaved).map(([key]) => key)
    return [...new Set(keys.map((key) => key.slice(0, key.indexOf(' '))))]
  }

  /** @returns stops it */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** @param href of the page that the form is on */
export function draftKey(href: string, form: string): string {
  return `${href} ${form}`
}
