/** What the demo model says and understands, in the languages of the widget. */
export interface DemoWords {
  /** Said in every reply that ends a round, so that nobody takes it for a language model's. */
  readonly notice: string
  /** Of the moment: what was noted may be forgotten again, and this stays in the log. */
  readonly remembered: string
  /** Of a preference or a rule: where it is known, and how long only there. */
  readonly known: string
  readonly found: (found: string) => string
  /** Nothing that was asked for is remembered here; it may be in another conversation. */
  readonly nothing: string
  readonly told: (told: string) => string
  readonly said: (said: string) => string
  readonly silence: string
  /** How many messages people and models read it was given, and its tokens beside the line. */
  readonly given: (count: number, messages: string, used: string, cap: string) => string
  /** What somebody wants to know of: the first group. */
  readonly asks: RegExp
  /** Where that is who asks: all that is remembered is wanted. */
  readonly me: RegExp
  /** What is to be remembered: the first group, by the tool that remembers such. The first wins. */
  readonly wishes: readonly {
    readonly kind: 'preference' | 'constraint' | 'finding'
    readonly asks: RegExp
  }[]
  /** The same, as it is said of them: `You prefer …`. What it does not know it leaves as it is. */
  readonly ofYou: (text: string) => string
  /** A trip is to be planned, to the first group. */
  readonly plans: RegExp
  readonly trip: TripWords
}

/** A trip in scripted steps: what is noted on the way, and the plan. */
export interface TripWords {
  /** Where it goes if nobody says so. */
  readonly place: string
  /** How facts tell of a seat. */
  readonly seat: RegExp
  readonly steps: readonly { readonly says: string; readonly notes: (place: string) => string }[]
  readonly plan: (place: string, seat: string) => string
  readonly noSeat: string
}

const en: DemoWords = {
  notice: 'This is a scripted demo: no language model was called.',
  remembered: 'It was remembered just now.',
  known: 'Until you confirm it in Memory (“Confirm as mine”), it is in this conversation only.',
  found: (found) => `It was looked up: ${found}`,
  nothing:
    'Nothing about that is known in this conversation. Say “Remember that I prefer window seats.” here. If you told another conversation, confirm it in Memory (“Confirm as mine”): a preference or a rule is then known here, too.',
  told: (told) => `I remember: ${told}`,
  said: (said) => `You said: ${said}`,
  silence: 'You sent no words.',
  given: (count, messages, used, cap) =>
    `It was given ${messages} ${count === 1 ? 'message' : 'messages'}: ${used} of ${cap} tokens.`,
  asks: /\b(?:what do you (?:remember|know) about|do you remember|recall)\s+(.{2,400}?)[?.!]*$/i,
  me: /^(?:me|myself)$/i,
  wishes: [
    {
      kind: 'preference',
      asks: /\b(?:remember|note|keep in mind)(?: that)?:?\s+(I (?:prefer|like|love|want|hate)\b.{1,580})/i,
    },
    {
      kind: 'constraint',
      asks: /\b(?:remember|note|keep in mind)(?: that)?:?\s+((?:never|always|do not|don't)\b.{1,580})/i,
    },
    { kind: 'finding', asks: /\b(?:remember|note|keep in mind|don't forget)(?: that)?:?\s+(.{2,600})/i },
  ],
  ofYou: (text) =>
    text.replace(/^I (?=(?:prefer|like|love|want|hate)\b)/i, 'You ').replaceAll(/\bmy\b/gi, 'your'),
  plans: /^plan (?:me )?(?:a|my) (?:trip|weekend)(?: (?:to|in) (.{2,60}?))?[.!]*$/i,
  trip: {
    place: 'Turin',
    seat: /\bseat|\bwindow/i,
    steps: [
      {
        says: 'First I remember the trains.',
        notes: (place) => `Trains to ${place}: out on Saturday at 9:40, back on Sunday at 17:20.`,
      },
      { says: 'Then the hotel.', notes: (place) => `Hotel in ${place}: by the station, one night.` },
    ],
    plan: (place, seat) =>
      `Your weekend in ${place}. Its steps are scripted, and its times are made up.\n\n1. Saturday, 9:40: the train there. ${seat}\n2. One night at the hotel by the station.\n3. Sunday, 17:20: the train back.`,
    noSeat: 'In this conversation you have not told me where you like to sit.',
  },
}

const de: DemoWords = {
  notice: 'Das ist eine Demo nach Skript: Kein Sprachmodell wurde aufgerufen.',
  remembered: 'Es wurde gerade gemerkt.',
  known:
    'Bis Sie es unter Gedächtnis bestätigen („Als meines bestätigen“), gilt es nur in dieser Unterhaltung.',
  found: (found) => `Nachgesehen: ${found}`,
  nothing:
    'Darüber ist in dieser Unterhaltung nichts bekannt. Sagen Sie hier „Merk dir, dass ich gern am Fenster sitze.“ Haben Sie es in einer anderen Unterhaltung gesagt, bestätigen Sie es unter Gedächtnis („Als meines bestätigen“): Eine Vorliebe oder Vorgabe ist dann auch hier bekannt.',
  told: (told) => `Gemerkt ist: ${told}`,
  said: (said) => `Sie haben gesagt: ${said}`,
  silence: 'Sie haben keinen Text gesendet.',
  given: (count, messages, used, cap) =>
    `Das Skript bekam ${messages} ${count === 1 ? 'Nachricht' : 'Nachrichten'}: ${used} von ${cap} Token.`,
  asks: /^was weißt du über\s+(.{2,400}?)[?.!]*$/i,
  me: /^mich$/i,
  wishes: [{ kind: 'preference', asks: /^merke? dir(?:,? dass)?\s*:?\s*(.{2,580})/i }],
  ofYou: (text) => (text === 'ich gern am Fenster sitze.' ? 'Sie sitzen gern am Fenster.' : text),
  plans: /^plane? (?:mir )?(?:eine reise|ein wochenende|mein wochenende)(?: (?:nach|in) (.{2,60}?))?[.!]*$/i,
  trip: {
    place: 'Turin',
    seat: /sitz|fenster/i,
    steps: [
      {
        says: 'Zuerst merke ich mir die Züge.',
        notes: (place) => `Züge nach ${place}: hin am Samstag um 9:40, zurück am Sonntag um 17:20.`,
      },
      { says: 'Dann das Hotel.', notes: (place) => `Hotel in ${place}: am Bahnhof, eine Nacht.` },
    ],
    plan: (place, seat) =>
      `Ihr Wochenende in ${place}. Die Schritte sind vorbereitet, die Zeiten erfunden.\n\n1. Samstag, 9:40: der Zug hin. ${seat}\n2. Eine Nacht im Hotel am Bahnhof.\n3. Sonntag, 17:20: der Zug zurück.`,
    noSeat: 'Wo Sie gern sitzen, haben Sie in dieser Unterhaltung noch nicht gesagt.',
  },
}

const fr: DemoWords = {
  notice: 'Ceci est une démo scénarisée : aucun modèle de langage n’a été appelé.',
  remembered: 'Cela vient d’être retenu.',
  known:
    'Tant que vous ne l’avez pas confirmé sous Mémoire (« Confirmer »), cela ne vaut que dans cette conversation.',
  found: (found) => `Voici ce qui a été trouvé : ${found}`,
  nothing:
    'Dans cette conversation, rien n’est connu à ce sujet. Dites ici « Retiens que je préfère une place côté fenêtre. » Si vous l’avez dit dans une autre conversation, confirmez-le sous Mémoire (« Confirmer ») : une préférence ou une règle est alors connue ici aussi.',
  told: (told) => `Voici ce que j’ai retenu : ${told}`,
  said: (said) => `Vous avez dit : ${said}`,
  silence: 'Vous n’avez envoyé aucun texte.',
  given: (count, messages, used, cap) =>
    `Le script a reçu ${messages} ${count === 1 ? 'message' : 'messages'} : ${used} jetons sur ${cap}.`,
  asks: /^que sais-tu de\s+(.{2,400}?)[\s?.!]*$/i,
  me: /^moi$/i,
  wishes: [{ kind: 'preference', asks: /^retiens(?: que)?\s*:?\s*(.{2,580})/i }],
  ofYou: (text) =>
    text === 'je préfère une place côté fenêtre.' ? 'Vous préférez une place côté fenêtre.' : text,
  plans: /^planifie (?:un voyage|un week-end|mon week-end)(?: (?:à|en) (.{2,60}?))?[.!]*$/i,
  trip: {
    place: 'Turin',
    seat: /place|fenêtre/i,
    steps: [
      {
        says: 'Je retiens d’abord les trains.',
        notes: (place) => `Trains pour ${place} : aller samedi à 9:40, retour dimanche à 17:20.`,
      },
      { says: 'Puis l’hôtel.', notes: (place) => `Hôtel à ${place} : près de la gare, une nuit.` },
    ],
    plan: (place, seat) =>
      `Votre week-end à ${place}. Les étapes sont écrites d’avance, les horaires inventés.\n\n1. Samedi, 9:40 : le train aller. ${seat}\n2. Une nuit à l’hôtel près de la gare.\n3. Dimanche, 17:20 : le train du retour.`,
    noSeat: 'Dans cette conversation, vous n’avez pas dit où vous aimez vous asseoir.',
  },
}

const es: DemoWords = {
  notice: 'Esto es una demo con guion: no se llamó a ningún modelo de lenguaje.',
  remembered: 'Se acaba de recordar.',
  known: 'Hasta que lo confirme en Memoria («Confirmar como mío»), vale solo en esta conversación.',
  found: (found) => `Esto se encontró: ${found}`,
  nothing:
    'En esta conversación no se conoce nada de eso. Diga aquí «Recuerda que prefiero el asiento de ventanilla.» Si lo dijo en otra conversación, confírmelo en Memoria («Confirmar como mío»): una preferencia o una regla se conoce entonces aquí también.',
  told: (told) => `Recuerdo esto: ${told}`,
  said: (said) => `Usted dijo: ${said}`,
  silence: 'No envió ningún texto.',
  given: (count, messages, used, cap) =>
    `El guion recibió ${messages} ${count === 1 ? 'mensaje' : 'mensajes'}: ${used} de ${cap} tokens.`,
  asks: /^¿?qué sabes de\s+(.{2,400}?)[?.!]*$/i,
  me: /^mí$/i,
  wishes: [{ kind: 'preference', asks: /^recuerda(?: que)?\s*:?\s*(.{2,580})/i }],
  ofYou: (text) =>
    text === 'prefiero el asiento de ventanilla.' ? 'Usted prefiere el asiento de ventanilla.' : text,
  plans: /^planifica (?:un viaje|un fin de semana|mi fin de semana)(?: (?:a|en) (.{2,60}?))?[.!]*$/i,
  trip: {
    place: 'Turín',
    seat: /asiento|ventanilla/i,
    steps: [
      {
        says: 'Primero recuerdo los trenes.',
        notes: (place) => `Trenes a ${place}: ida el sábado a las 9:40, vuelta el domingo a las 17:20.`,
      },
      { says: 'Luego el hotel.', notes: (place) => `Hotel en ${place}: junto a la estación, una noche.` },
    ],
    plan: (place, seat) =>
      `Su fin de semana en ${place}. Los pasos están escritos de antemano y las horas son inventadas.\n\n1. Sábado, 9:40: el tren de ida. ${seat}\n2. Una noche en el hotel junto a la estación.\n3. Domingo, 17:20: el tren de vuelta.`,
    noSeat: 'En esta conversación aún no ha dicho dónde le gusta sentarse.',
  },
}

const ar: DemoWords = {
  notice: 'هذا عرض مُعدّ مسبقًا: لم يُستدعَ أي نموذج لغوي.',
  remembered: 'حُفظ ذلك الآن.',
  known: 'وإلى أن تؤكّده في الذاكرة («تأكيد») يبقى في هذه المحادثة فقط.',
  found: (found) => `وُجد ما يلي: ${found}`,
  nothing:
    'لا شيء معروف عن ذلك في هذه المحادثة. قل هنا «تذكّر أن مقعدي المفضل بجانب النافذة.» وإن قلته في محادثة أخرى فأكّده في الذاكرة («تأكيد»): عندها يصبح كل تفضيل أو قاعدة معروفًا هنا أيضًا.',
  told: (told) => `المحفوظ في الذاكرة: ${told}`,
  said: (said) => `قلتَ: ${said}`,
  silence: 'لم ترسل نصًا.',
  given: (_, messages, used, cap) => `الرسائل التي تلقّاها: ${messages}، والرموز ${used} من ${cap}.`,
  asks: /^ماذا تعرف عن\s*(.{1,400}?)[؟?.!]*$/i,
  me: /^ي$/,
  wishes: [{ kind: 'preference', asks: /^تذكّر(?: أن)?\s*:?\s*(.{2,580})/i }],
  ofYou: (text) => (text === 'مقعدي المفضل بجانب النافذة.' ? 'مقعدك المفضل بجانب النافذة.' : text),
  plans: /^خطّط (?:لرحلة|لعطلة نهاية أسبوع)(?: (?:إلى|في) (.{2,60}?))?[.!]*$/i,
  trip: {
    place: 'تورينو',
    seat: /مقعد|نافذة/,
    steps: [
      {
        says: 'أولًا أحفظ مواعيد القطارات.',
        notes: (place) => `القطارات إلى ${place}: الذهاب السبت 9:40 والعودة الأحد 17:20.`,
      },
      { says: 'ثم الفندق.', notes: (place) => `الفندق في ${place}: قرب المحطة، ليلة واحدة.` },
    ],
    plan: (place, seat) =>
      `عطلتك في ${place}. الخطوات مُعدّة مسبقًا والمواعيد مختلقة.\n\n1. السبت 9:40: قطار الذهاب. ${seat}\n2. ليلة واحدة في الفندق قرب المحطة.\n3. الأحد 17:20: قطار العودة.`,
    noSeat: 'لم تقل في هذه المحادثة بعد أين تحب أن تجلس.',
  },
}

const ja: DemoWords = {
  notice: 'これは台本によるデモです。言語モデルは呼び出していません。',
  remembered: 'いま記憶しました。',
  known: '記憶の「自分のものとして確認」で確認するまでは、この会話だけで使われます。',
  found: (found) => `見つかったもの：${found}`,
  nothing:
    'それについて、この会話ではまだ何も記憶していません。ここで「覚えて：窓側の席が好きです。」と言ってください。別の会話で言った場合は、記憶の「自分のものとして確認」で確認すると、好みや決まりがここでも使われます。',
  told: (told) => `記憶していること：${told}`,
  said: (said) => `あなたの発言：${said}`,
  silence: '文章は送られていません。',
  given: (_, messages, used, cap) => `渡されたメッセージ ${messages} 件、${cap} トークン中 ${used}。`,
  asks: /^(.{1,400}?)について何を覚えて/,
  me: /^(?:私|わたし|僕|ぼく|俺)$/,
  wishes: [{ kind: 'preference', asks: /^覚えて\s*[:：]?\s*(.{2,580})/ }],
  ofYou: (text) => text,
  plans: /^(?:(.{1,60}?)で過ごす)?(?:週末|旅行)を計画して/,
  trip: {
    place: 'トリノ',
    seat: /席|窓/,
    steps: [
      {
        says: 'まず列車を記憶します。',
        notes: (place) => `${place}への列車：行きは土曜 9:40、帰りは日曜 17:20。`,
      },
      { says: '次にホテルです。', notes: (place) => `${place}のホテル：駅のそば、一泊。` },
    ],
    plan: (place, seat) =>
      `${place}での週末です。手順は用意されたもので、時刻は架空です。\n\n1. 土曜 9:40：行きの列車。${seat}\n2. 駅のそばのホテルに一泊。\n3. 日曜 17:20：帰りの列車。`,
    noSeat: 'どこに座りたいかは、この会話ではまだ聞いていません。',
  },
}

const LANGUAGES: Readonly<Record<string, DemoWords>> = { en, de, fr, es, ar, ja }
/** What is in none of the sentences above still tells these by their letters. */
const LETTERS: readonly (readonly [string, RegExp])[] = [
  ['ar', /\p{Script=Arabic}/u],
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
]

/** The language of what somebody said, where it can be told. */
export function demoLanguageOf(said: string): string | undefined {
  const understood = Object.entries(LANGUAGES).find(([, { asks, plans, wishes }]) =>
    [asks, plans, ...wishes.map((wish) => wish.asks)].some((pattern) => pattern.test(said)),
  )
  return (understood ?? LETTERS.find(([, letters]) => letters.test(said)))?.[0]
}

/** @param language one that {@link demoLanguageOf} gives. Default: English */
export function demoWords(language = 'en'): DemoWords {
  return LANGUAGES[language] ?? en
}
