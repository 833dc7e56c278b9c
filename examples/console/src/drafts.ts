import type { Fields } from './form/form.ts'

interface Draft {
  readonly value: unknown
  readonly isUnsaved: boolean
}

/** The unsaved input of all forms. It survives visits to other pages and a new sign-in. It's only in memory. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>()
  readonly #proposals = new Map<string, Fields>()
  readonly #listeners = new Set<() => void>()

  get(key: string): unknown {
    return this.#drafts.get(key)?.value
  }

  set(key: string, value: unknown, isUnsaved: boolean): void {
    this.#drafts.set(key, { value, isUnsaved })
    for (const listener of [...this.#listeners]) listener()
  }

  /** Forgets a form that is no longer shown, unless that would lose input. */
  leave(key: string): void {
    if (this.#drafts.get(key)?.isUnsaved !== true) this.#drafts.delete(key)
  }

  /**
   * Forgets the forms of a page and their input.
   *
   * @param href of the page
   */
  forget(href: string): void {
    for (const key of this.#drafts.keys()) if (key.startsWith(draftKey(href, ''))) this.#drafts.delete(key)
    for (const listener of [...this.#listeners]) listener()
  }

  /** Proposes values to a form that will be opened: an undo. They are unsaved there. */
  propose(href: string, form: string, fields: Fields): void {
    this.#proposals.set(draftKey(href, form), fields)
  }

  hasProposal(href: string, form: string): boolean {
    return this.#proposals.has(draftKey(href, form))
  }

  takeProposal(href: string, form: string): Fields | undefined {
    const key = draftKey(href, form)
    const fields = this.#proposals.get(key)
    this.#proposals.delete(key)
    return fields
  }

  /** The addresses of the pages with unsaved input. */
  unsaved(): string[] {
    const keys = [...this.#drafts].filter(([, { isUnsaved }]) => isUnsaved).map(([key]) => key)
    return [...new Set(keys.map((key) => key.slice(0, key.indexOf(' '))))]
  }

  /** @returns a function that stops watching */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** @param href the form's page */
export function draftKey(href: string, form: string): string {
  return `${href} ${form}`
}
