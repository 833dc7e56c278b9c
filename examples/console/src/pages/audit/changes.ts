import type { Fields } from '../../form/form.ts'

/** A document of the audit trail as fields, by their paths. What is absent, `null` or empty is left out. */
export function fieldsOf(document: unknown): Fields {
  const fields: Record<string, string> = {}
  const walk = (value: unknown, path: string): void => {
    if (value === null || value === undefined) return
    if (typeof value !== 'object') {
      fields[path] = String(value)
      return
    }
    for (const [name, member] of Object.entries(value)) walk(member, path === '' ? name : `${path}.${name}`)
  }
  walk(document, '')
  return fields
}
