import type { TextKey } from '../catalogue.ts'
import { Words } from '../words.ts'
import type { PanelStrings, PanelTextKey, PluralKey, Strings } from './catalogue.ts'

/** The words of a view with those of its panels. What an app gave wins. */
export class PanelWords extends Words {
  declare readonly strings: Strings

  constructor({ language, strings, readers }: Words, panels: PanelStrings) {
    super(language, { ...panels, ...strings }, readers)
  }

  override text(key: PanelTextKey, values?: Readonly<Record<string, string>>): string {
    return super.text(key as TextKey, values)
  }

  /** A text in the form that goes with `count`, which is its `{count}`. */
  counted(key: PluralKey, count: number): string {
    const forms = this.strings[key]
    const text = forms[new Intl.PluralRules(this.language).select(count)] ?? forms.other
    return text.replaceAll('{count}', this.number(count))
  }
}
