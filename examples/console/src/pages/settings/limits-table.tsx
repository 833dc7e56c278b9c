import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { EditorValue } from '../../form/editor-field.tsx'
import { effectiveLimit, limitText } from '../../form/effective-limit.ts'
import type { Editor } from '../../form/use-editor.ts'
import { CATEGORIES, CELLS, type Cell, LAYERS, MODES, type Mode, pathOf } from '../../limits.ts'
import { useNarrow } from '../../ui/hooks.ts'
import { Scroll } from '../../ui/scroll.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { settingName } from './setting-name.ts'

export interface PartProps {
  readonly editor: Editor
  /** The adaptive factor now. */
  readonly factor: number
}

/** The base and custom values next to the limits that each mode makes of them. */
export function LimitsTable({ editor, factor }: PartProps): JSX.Element {
  const words = useWords()
  const { settings } = words
  const names = useNames()
  const isNarrow = useNarrow()
  const [isOpen, setOpen] = useState(false)
  const { draft } = editor
  const isUsed = draft.mode === 'custom' || CELLS.some((cell) => (draft[pathOf('custom', cell)] ?? '') !== '')
  const hasCustom = isOpen || isUsed
  // A phone shows only the chosen mode's limit, next to the value.
  const modes = MODES.filter((mode) => (isNarrow ? mode === draft.mode : mode !== 'custom' || hasCustom))
  const tables = hasCustom ? (['base', 'custom'] as const) : (['base'] as const)
  const fill = (textOf: (cell: Cell) => string): void =>
    editor.setAll(Object.fromEntries(CELLS.map((cell) => [pathOf('custom', cell), textOf(cell)])))
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">{settings.limits}</h2>
      <p class="quiet">{settings.limitsAbout}</p>
      <Scroll label={settings.limits}>
        <table class="limits">
          <thead>
            <tr>
              <th rowSpan={2} scope="col" class="stick">
                {settings.window}
              </th>
              {tables.map((table) => (
                <th key={table} rowSpan={2} scope="col">
                  {settings[table]}
                </th>
              ))}
              <th colSpan={modes.length} scope="colgroup" class="over">
                {settings.effective}
              </th>
            </tr>
            <tr>
              {modes.map((mode) => (
                <th key={mode} scope="col" class={draft.mode === mode ? 'number chosen' : 'number'}>
                  {words.modes[mode]}
                </th>
              ))}
            </tr>
          </thead>
          {LAYERS.flatMap((layer) =>
            CATEGORIES.map((category) => (
              <tbody key={`${layer}.${category}`}>
                <tr class="group">
                  <th scope="rowgroup" colSpan={1 + tables.length + modes.length}>
                    <span class="stick">
                      {names.layer(layer)} · {names.category(category)}
                    </span>
                  </th>
                </tr>
                {CELLS.filter((cell) => cell.layer === layer && cell.category === category).map((cell) => (
                  <Row key={cell.window} {...{ editor, factor, cell, modes, tables }} />
                ))}
              </tbody>
            )),
          )}
        </table>
      </Scroll>
      <p class="buttons">
        <button type="button" onClick={() => fill((cell) => draft[pathOf('base', cell)] ?? '')}>
          {settings.copyBase}
        </button>
        {isUsed && (
          <button type="button" onClick={() => fill(() => '')}>
            {settings.clearCustom}
          </button>
        )}
        {!hasCustom && (
          <button type="button" class="plain" onClick={() => setOpen(true)}>
            {settings.showCustom}
          </button>
        )}
      </p>
    </section>
  )
}

interface RowProps extends PartProps {
  readonly cell: Cell
  readonly modes: readonly Mode[]
  readonly tables: readonly ('base' | 'custom')[]
}

function Row({ editor, factor, cell, modes, tables }: RowProps): JSX.Element {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const limitIn = (mode: Mode): JSX.Element | string => {
    const limit = effectiveLimit(editor.draft, cell, mode, factor)
    if (limit.kind === 'off') return <span class="quiet">{words.settings.off}</span>
    if (limit.kind !== 'range') return limitText(limit, formats)
    return (
      <>
        {limitText(limit, formats)}
        <span class="quiet small now">{words.settings.now(formats.number(limit.now))}</span>
      </>
    )
  }
  return (
    <tr>
      <th scope="row" class="stick">
        {names.window(cell.window)}
      </th>
      {tables.map((table) => (
        <td key={table}>
          <EditorValue
            editor={editor}
            path={pathOf(table, cell)}
            label={settingName(words, names, pathOf(table, cell))}
            placeholder={table === 'custom' ? words.none : undefined}
          />
        </td>
      ))}
      {modes.map((mode) => (
        <td key={mode} class={editor.draft.mode === mode ? 'number chosen' : 'number'}>
          {limitIn(mode)}
        </td>
      ))}
    </tr>
  )
}
