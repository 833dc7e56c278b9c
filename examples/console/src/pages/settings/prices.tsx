import type { JSX } from 'preact'
import type { Editor } from '../../form/use-editor.ts'
import { usePolicy } from '../../session.ts'
import { ValueInput } from '../../ui/field.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'

/** What operations cost. */
export function Prices({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const { categories } = usePolicy()
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">{words.settings.prices}</h2>
      <p class="quiet">{words.settings.pricesAbout}</p>
      <div class="columns">
        {categories.map((category) => (
          <PriceTable key={category} editor={editor} category={category} />
        ))}
      </div>
    </section>
  )
}

function PriceTable({ editor, category }: { editor: Editor; category: string }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const operations = Object.entries(usePolicy().operations).filter(([, of]) => of.category === category)
  return (
    <table class="prices">
      <caption>{names.category(category)}</caption>
      <thead>
        <tr>
          <th scope="col">{words.settings.operation}</th>
          <th scope="col" class="number">
            {words.settings.defaultPrice}
          </th>
          <th scope="col">{words.settings.price}</th>
        </tr>
      </thead>
      <tbody>
        {operations.map(([name, { cost }]) => (
          <PriceRow key={name} editor={editor} name={name} cost={cost} />
        ))}
      </tbody>
    </table>
  )
}

function PriceRow({ editor, name, cost }: { editor: Editor; name: string; cost: number }): JSX.Element {
  const words = useWords()
  const { number } = useFormats()
  const path = `prices.${name}`
  const fault = editor.faults[path]
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td class="number">{number(cost)}</td>
      <td>
        <ValueInput
          label={words.settings.priceOf(name)}
          value={editor.draft[path] ?? ''}
          fault={fault === undefined ? undefined : words.settings.faults[fault]}
          isChanged={editor.changed.includes(path)}
          placeholder={number(cost)}
          onInput={(text) => editor.set(path, text)}
        />
      </td>
    </tr>
  )
}
