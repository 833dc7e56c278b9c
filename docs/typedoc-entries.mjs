// Finds every entry of every package by its `exports`, and names it as an import does.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application, Converter, ReflectionKind } from 'typedoc'

const packages = join(import.meta.dirname, '..', 'packages')

/** Files of the entries, and what they are imported as. */
export const entries = new Map(
  readdirSync(packages).flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
    return Object.entries(exports).flatMap(([path, conditions]) => {
      const source = conditions['@scoregw/source']
      // It promises nothing.
      if (path === './internal') return []
      return source === undefined ? [] : [[join(packages, folder, source), name + path.slice(1)]]
    })
  }),
)

/** @param {Application} app */
export function load(app) {
  app.on(Application.EVENT_BOOTSTRAP_END, () => app.options.setValue('entryPoints', [...entries.keys()]))
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return
    const file =
      reflection.sources?.[0]?.fullFileName ?? reflection.project.getSymbolIdFromReflection(reflection)?.fileName
    const name = [...entries].find(([path]) => path === file)?.[1]
    if (name === undefined) throw new Error(`no entry: ${reflection.name} (${file})`)
    reflection.name = name
  })
}
