import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { effectiveLimit, limitText } from '../../form/effective-limit.ts'
import { EditorValue } from '../../form/fields.tsx'
import type { Fields } from '../../form/form.ts'
import type { Editor } from '../../form/use-editor.ts'
import { CATEGORIES, CELLS, type Cell, LAYERS, pathOf } from '../../limits.ts'
import { useNarrow } from '../../ui/hooks.ts'
import { Scroll } from '../../ui/table.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { modeOf, useSettingTexts } from './setting-texts.ts'

export interface PartProps {
  readonly editor: Editor
  /** The adaptive factor now. */
  readonly factor: number
}

type TableName = 'base' | 'custom'

/** The base and custom values next to the limits in effect now, and after saving. */
export function LimitsTable({ editor, factor }: PartProps): JSX.Element {
  const { settings } = useWords()
  const names = useNames()
  const [isOpen, setOpen] = useState(false)
  // A phone has room for the limit after saving only. The summary of changes has the other.
  const isNarrow = useNarrow()
  const { draft } = editor
  const isUsed = draft.mode === 'custom' || CELLS.some((cell) => (draft[pathOf('custom', cell)] ?? '') !== '')
  const tables: readonly TableName[] = isOpen || isUsed ? ['base', 'custom'] : ['base']
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
              <th scope="col" class="stick">
                {settings.window}
              </th>
              {tables.map((table) => (
                <th key={table} scope="col">
                  {settings[table]}
                </th>
              ))}
              {!isNarrow && (
                <th scope="col" class="number">
                  {settings.today}
                </th>
              )}
              <th scope="col" class="number">
                {settings.afterSaving}
              </th>
            </tr>
          </thead>
          {LAYERS.flatMap((layer) =>
            CATEGORIES.map((category) => (
              <tbody key={`${layer}.${category}`}>
                <tr class="group">
                  <th scope="rowgroup" colSpan={(isNarrow ? 2 : 3) + tables.length}>
                    <span class="stick">
                      {names.layer(layer)} · {names.category(category)}
                    </span>
                  </th>
                </tr>
                {CELLS.filter((cell) => cell.layer === layer && cell.category === category).map((cell) => (
                  <Row key={cell.window} {...{ editor, factor, cell, tables, isNarrow }} />
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
        {tables.length === 1 && (
          <button type="button" class="plain" onClick={() => setOpen(true)}>
            {settings.showCustom}
          </button>
        )}
      </p>
    </section>
  )
}

function Limit({ text: [text, now], kind = '' }: { text: readonly string[]; kind?: string }): JSX.Element {
  return (
    <td class={`number ${kind}`}>
      {text}
      {now !== undefined && <span class="quiet small block">{now}</span>}
    </td>
  )
}

interface RowProps extends PartProps {
  readonly isNarrow: boolean
  readonly cell: Cell
  readonly tables: readonly TableName[]
}

function Row({ editor, factor, cell, tables, isNarrow }: RowProps): JSX.Element {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const texts = useSettingTexts()
  const limitIn = (fields: Fields): readonly string[] => {
    const limit = effectiveLimit(fields, cell, modeOf(fields.mode ?? ''), factor)
    if (limit.kind === 'off') return [words.settings.off]
    const text = limitText(limit, formats)
    return limit.kind === 'range' ? [text, words.settings.now(formats.number(limit.now))] : [text]
  }
  const [today, after] = [limitIn(editor.stored?.fields ?? {}), limitIn(editor.draft)]
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
            label={texts.nameOf(pathOf(table, cell))}
            placeholder={table === 'custom' ? words.none : undefined}
          />
        </td>
      ))}
      {!isNarrow && <Limit text={today} />}
      <Limit text={after} kind={today.join() === after.join() ? 'quiet after' : 'chosen after'} />
    </tr>
  )
}
