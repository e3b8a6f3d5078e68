"""Names and hand-written phrases of the sample data set: tables only, no logic (that is in make_sample_data.py).

Everything here is invented. Slots in braces are filled by the generator: {S} the subject of a passage, {town}, {county},
and the fact in its wordy form ({fact}, or {Fact} at the start of a sentence). A full stop ends a sentence and nothing else.
"""

COASTAL_TOWNS = """Corrin Haldrey Maskeld Tarnhaven Ostrel Pellow Skarwick Vennis Ardmoor Quillsea Brannoch Dunvarra Ellsey
Farrowness Hestrand Inverlusk Jarrowmouth Kelsay Lorrick Merrowby Nanskel Orfleet Portarran Rusken Saltrey Thornsea Ulverness
Wexholm Yarlsey Aldersound Brimhaven Cadderport Drumsey Eskmarrow Fennport Garrisound Holmsey Iskerry""".split()

INLAND_TOWNS = """Abberlow Brackenholt Cressmoor Dunnaby Elderwick Fallowmere Greyfold Hatherlow Ivelthorpe Kirrowdale Larkstead
Mellowby Netherwain Oakhallow Pinmoor Questerby Rendlow Sallowfield Tillingarth Umberley Varnsted Wintermoor Yaddlewick Ashgarth
Bellowden Cawthrey Dappleford Ellermoss Fernhallow Gorsedale Hollinbrae Ironstead Jossling Kestrelby Lindgarth Marlowend
Nettlestow Orrinford Peverdale Ravenhallow""".split()

COASTAL_COUNTIES = "Eastmere Sundrel Greywater Westling Tessaloe".split()
INLAND_COUNTIES = "Northfold Harroway Caldrith Lowmark".split()

# One river for each inland town, in the same order.
RIVERS = """Ambel Brindle Cuddow Dorrel Eskle Fenna Garrow Hibble Isket Jessam Kellet Lunder Mirrow Naddle Orsel Pindle Quarne
Rothel Sembre Tavrin Ulder Vessen Wendle Yarrick Arle Bourra Cammel Dunnel Errin Fosk Glimmer Hasp Ibbern Keld Lathing Morvel
Nisk Ottle Rushet Thrum""".split()

WOMEN = """Ilsa Maren Hanne Petra Alda Signe Oriel Thea Nessa Una Brenna Mabel Isolde Tamsin Greta Willa Enid
Delia Flora Hester Junia Sunniva Ottilie Linnet Agnes Clemency Marit Saskia Viola Merle""".split()
MEN = """Tobin Edric Corwin Joss Rufus Bram Piers Lorcan Garrick Silas Anders Konrad Jarvis Ewald Hollis
Magnus Osric Ragnar Amos Leif Caspar Idris Barnaby Fenwick Rowland Torvald Ivo Jonas Walter Emrys""".split()
# Titles that only a woman bears.
TITLES_OF_WOMEN = ["the schoolmistress", "Sister"]

FAMILY_NAMES = """Marrow Tindall Averly Brockhurst Calloway Denholm Eskridge Fairlock Garrowby Hexley Inglestone Jessop Kettering
Lanyard Mossman Nettlefold Ormerod Pennick Quillan Redfearn Sandover Thackrah Underhay Varley Wainscot Yardley Ashdown Birkett
Cutler Drummore Ellerton Fossick Gathercole Harbottle Ivory Jagger Kestle Lockwin Merriday Norcott Oakshott Pargeter Quince
Rainbird Starling Tolliver Umfrey Vosper Whitlock Yelland Arkwell Bramhall Cadwell Dovey Elphick Farthing Goodspeed Hollowell
Inchbold Joyner Kingdom Larkin Mudge Nightly Orchard Plowright Quested Rudderham Skelter Tregale Upjohn Vintner Woodruff Yarrow
Applegarth Bellwether Crabbe Dunnock Emberley Flint Greenhalgh Hawksworth Ingram Jericho Kelpie Lovelock Mannering Oldacre""".split()

SHIPS = """Grey Wagtail|Patient Heron|Morning Kittiwake|Salt Maiden|Northern Thrift|Old Promise|Silver Sprat|Lady Merrow|Lucky Tern|
Winter Barley|Steadfast|Two Sisters|Quiet Anne|Sea Holly|Golden Plover|Brave Linnet|Harbour Rose|Evening Gannet|Wild Fennel|
Blue Bonnet|Good Intent|Stormcock|Hopeful Mary|Little Auk|Red Samphire|Merry Dunlin|Late Swallow|Fair Isobel|Tall Bracken|
Dark Mussel|Green Lantern|Honest Joan|Slow Curlew|Bright Pilot|Long Patience|Cloudberry|Marsh Harrier|Faithful Jane|
Early Cockle|White Puffin|Bold Oyster|Skylark of the Sound|Ninth Wave|Ivory Gull|Autumn Mist|Eider|Sandpiper|Proud Helena""".replace("\n", "").split("|")

WORKS = """ballad Nine Grey Geese|novel Salt and Candle|play The Ferryman's Coat|hymn Lights Along the Sound|novel The Peat Cutters|
ballad Nell of the Long Pier|cookery book Barley and Brine|novel A Room Above the Tannery|play Three Keys for a Widow|
children's book The Goat Who Rang the Bell|ballad The Drowned Fiddler|novel Winter at the Toll House|play The Honest Smuggler|
song The Weavers Go Home|guidebook Walking the Chalk Road|novel The Clock Mender's Daughter|ballad Black Sails at Easter|
play A Bride for the Lighthouse|hymn Harvest of the Cold Fields|novel The Glass Orchard|poem Letter to a Heron|
song Twelve Herring for a Crown|novel Under the Copper Roof|play The Mayor's Two Hats|poem The Empty Beehive|
children's book Mole and the Moon|ballad The Lass with the Oilskin|novel Seven Miles of Rope|song Turn the Hay|poem On Hearing Sheep""".replace("\n", "").split("|")

EXPEDITIONS = """Varrow Ice|Skerry Deep|Hollow Mountain|Northern Lichen|Long Glacier|Whale Road|Sunken Forest|Outer Banks Seabird|
Black Fjord|Amber Coast|Lost Beacon|Frostbound|Tessel Reef|White Plateau|Lantern Strait|Thousand Lakes|Upper Moor|Great Cavern|
Silent Islands|Winter Eclipse|Cold Current|Peat Bog|Storm Petrel|Green Comet|Drift Ice|Basalt Stairs""".replace("\n", "").split("|")

MUSEUMS = """Rope|Cheese|Weather|Clocks|Salt|Toys|Herring|Bees|Locks and Keys|Boots|Fiddles|Bread|Kites|Lace|Buttons|Anchors|Cider|
Maps|Umbrellas|Wheels|Nails|Paper|Mirrors|Ploughs|Honey|Masks""".replace("\n", "").split("|")

RELICS = """Long Chart|Copper Crown|Salt Ledger|Horn of Saint Aune|Drowned Bell|Glass Psalter|Treaty Stone|Fishwives' Banner|
Queen's Left Glove|Oak Compass|Great Tide Table|Silver Ladle|First Lighthouse Lens|Weavers' Charter|Whalebone Chair|Burnt Map|
Pilot's Astrolabe|Founders' Cup|Hundred Year Loaf|Blue Atlas|Wreckers' Lamp|Peace Drum|Bishop's Skates|Painted Sledge""".replace("\n", "").split("|")

GUILDS = """Ropemakers|Cheesewrights|Bell Ringers|Lamp Trimmers|Hedge Layers|Net Menders|Clock Winders|Beekeepers|Ferry Pilots|
Stone Carvers|Salt Boilers|Kite Makers|Well Diggers|Thatchers|Glass Blowers|Wool Sorters|Barrel Coopers|Fiddle Makers|
Letter Cutters|Candle Dippers|Chart Engravers|Mole Catchers|Paper Makers|Sledge Builders""".replace("\n", "").split("|")

CONTESTS = """kite flying|stone skimming|sheep shearing|oyster opening|hedge laying|barrel rolling|bell ringing|pie baking|
raft racing|knot tying|wool spinning|toffee pulling|plough steering|ladder climbing|whistling|net throwing|cheese carrying|
scarecrow dressing|sandcastle|snow carving|goat racing|peat cutting|porridge stirring|skittles""".replace("\n", "").split("|")

# Adjective and noun; the plural adds "s" or "es".
OBJECTS = """silver lantern|iron key|copper kettle|wooden oar|painted drum|brass compass|green bottle|stone anchor|white candle|
red mitten|golden herring|black boot|blue feather|broken wheel|wicker basket|burning torch|striped sail|folded umbrella|
open book|crooked ladder|coiled rope|leather glove|long spoon|silver thimble|winged horse|sleeping fox|double axe|clay pipe|
yellow pear|blue thistle|horned goat|crowned swan|wooden bucket|pewter jug|hunting horn|carved whistle|tall hat|grey owl|
ivory comb|bent sickle|oak barrel|round cheese|tin trumpet|woven net|speckled egg|bronze bell|glass float|straw beehive|
wheat garland|rusty nail|forked spade|white heron|closed gate|rolled map|small hammer|plumed helmet|velvet slipper|glowing ember|
red acorn|iron stirrup|silver buckle|purple plum|winter rose|wooden clog|spinning top|painted fan|gilded acorn|square flag|
brown hare|knotted ribbon""".replace("\n", "").split("|")

OBJECT_TAILS = [
    "above two waves", "between two stars", "on a field of dark green", "beneath a plain crown", "set on a bare rock",
    "over a ploughed field", "wound about with ivy", "beside a low wall", "inside a ring of shells", "under a crescent moon",
    "held in an open hand", "against a rising sun", "between a pair of oak leaves", "within a border of braided cord",
]

BOOKS = ["the Vellmar Almanac", "the Harbour Handbook", "the County Register", "the Blue Gazetteer", "the Keeper's Yearbook",
         "the Island Directory", "the Pocket Guide to Vellmar", "the Civic Calendar"]

COLOURS = """sea green|deep amber|slate grey|cherry red|pale lemon|midnight blue|chestnut brown|dove white|moss green|burnt orange|
plum purple|cream|turquoise|rust red|pearl grey|mustard yellow|bottle green|sky blue|coral pink|ink black|straw gold|heather mauve|
copper|ivory|holly green|salmon pink|walnut|wine red|ash grey|primrose|cobalt blue|olive|lilac|tar black|apricot|mint green""".replace("\n", "").split("|")

MOTTOS = """Steady in Fog|Hold the Rope|Never the Last Boat|Salt Keeps|By Hand and Lamp|First the Bread|We Mend at Night|
Slow Water Turns the Wheel|One Bell for All|Look Back Twice|Dry Feet Warm Hearts|Carry the Light|No Gate Without a Key|
The Tide Will Wait|Wool Before Gold|Speak Low Row Hard|Under One Roof|Stone upon Stone|Ask the Wind|Leave No Ember|
Every Knot Counts|Quick to the Pump|Honest Weight|Plough the Hard Field|Good Neighbours Good Walls|Rise with the Herring|
Bring Your Own Bucket|Both Hands Ready|Through Smoke and Snow|Sooner Than Asked|Keep the Path Open|Many Oars|Small Lamps Far Seen|
Home Before Dark|The Ladder Holds|Bread for the Stranger""".replace("\n", "").split("|")

YEAR_LEADS = ["in the spring of", "in the early summer of", "in the autumn of", "in the first weeks of", "in the closing days of",
              "towards the end of", "at the beginning of", "late in the winter of"]
APPROXIMATIONS = ["about", "some", "roughly", "around", "nearly", "close to", "an estimated"]
PLACE_LINKS = {"coast": [", in the county of ", ", a fishing port in ", ", on the edge of "],
               "inland": [", in the county of ", ", a market town in ", ", on the edge of "]}

# Per sort of subject: where it lies, how it is named, how it is asked for, and three pools of sentences. A passage takes one
# opener (which names {S}), one fact and perhaps one closer. `names` is a list of patterns, or the key of a table above.
SORTS = {
    "year": [
        {
            "lies": "coast", "names": ["{town} lighthouse"],
            "questions": ["In which year was the {S} first lit?"],
            "openers": [
                "The {S} stands on a shelf of black rock that is cut off at every high tide.",
                "Sailors coming home from the west look for the {S} long before they can see the harbour.",
                "Few buildings in {county} are painted as often as the {S}, which wears two red bands.",
                "Visitors may climb the {S} on calm days if they ask at the boathouse.",
                "The beam of the {S} can be seen from four parishes.",
                "A narrow causeway joins the {S} to the mainland.",
            ],
            "facts": [
                "Its lamp was lit for the first time {fact}, after two coal boats had been lost on the reef.",
                "{Fact}, with half the village watching from the dunes, the lamp burned at last.",
                "The first keeper climbed the stairs and lit the wick {fact}.",
                "Whale oil and a new lens arrived together, and the light was shown for the first time {fact}.",
            ],
            "closers": [
                "Gulls nest on the gallery and have to be shooed away before the glass is cleaned.",
                "The keeper's garden still grows the best rhubarb on that coast.",
                "Its foghorn, a later addition, is loathed by everybody who lives within a mile.",
                "The logbooks are full of weather and almost empty of people.",
                "A retired postman now winds the mechanism on Sundays.",
                "In storms the spray reaches the upper windows.",
            ],
        },
        {
            "lies": "inland", "names": ["Long Bridge at {town}", "Old Toll Bridge at {town}", "Cattle Bridge at {town}",
                                         "Weavers' Bridge at {town}"],
            "questions": ["In which year was the {S} opened?"],
            "openers": [
                "The {S} replaced a rope ferry that had drowned more sheep than anyone cared to count.",
                "Two carts can pass each other on the {S}, though the drivers must breathe in.",
                "Painters like the {S} for its uneven arches and its mossy parapet.",
                "Nobody in {county} agrees on who paid for the {S}.",
                "Swallows return each May to the underside of the {S}.",
                "The {S} carries the old drove road into the town.",
            ],
            "facts": [
                "A brass band led the first crossing {fact}, and the mayor followed on a donkey.",
                "{Fact} the barriers were taken away and the road was open to everyone.",
                "It was opened to traffic {fact}, later than promised and well over budget.",
                "The first toll was taken {fact} from a tinker who paid in spoons.",
            ],
            "closers": [
                "Courting couples used to scratch their initials into the third pier.",
                "The stone came from a quarry that has since become a swimming pond.",
                "Floods have reached the roadway twice without moving a single block.",
                "A lamp hangs in the middle so that nobody walks into the railings.",
                "Its keeper lived rent free in a hut the size of a wardrobe.",
                "Heavy lorries are sent round by the lower road.",
            ],
        },
        {
            "lies": "any", "names": ["{town} school of music", "{town} cottage hospital", "{town} lending library",
                                     "{town} savings bank", "{town} weather station"],
            "questions": ["In which year was the {S} founded?"],
            "openers": [
                "The {S} began in two rented rooms above a saddler's shop.",
                "For most of its life the {S} has been run by volunteers.",
                "The {S} is the oldest institution of its sort in {county}.",
                "A plain brick front hides the {S} from people who do not know where to look.",
                "When the roof of the {S} leaked, the whole street came with buckets.",
                "Children in {town} can draw the {S} from memory.",
            ],
            "facts": [
                "Its founders signed the deed {fact} at a kitchen table.",
                "It was founded {fact} with money left by a childless miller.",
                "{Fact}, after a long quarrel with the parish, it was founded by public subscription.",
                "The minute book records that it was founded {fact}, on a motion carried by one vote.",
            ],
            "closers": [
                "The original door knocker is kept in a drawer for safety.",
                "A portrait of the first treasurer frowns at everybody who comes in.",
                "Lean seasons nearly closed it more than once.",
                "The staff still take tea at four without exception.",
                "Its annual report is famous for bad jokes.",
                "New members plant a tree behind the coal shed.",
            ],
        },
        {
            "lies": "coast", "names": ["mail boat {ship}", "ferry {ship}", "paddle steamer {ship}"],
            "questions": ["In which year was the {S} launched?"],
            "openers": [
                "The {S} served the outer islands for longer than any other vessel.",
                "Old people in {town} can still imitate the whistle of the {S}.",
                "Nobody would have called the {S} handsome, but she was never late.",
                "A model of the {S} hangs from the ceiling of the seamen's chapel at {town}.",
                "The {S} carried letters, pigs and, on one occasion, a church organ.",
                "The wheel of the {S} is now the sign of a public house.",
            ],
            "facts": [
                "She slid into the water {fact} before a silent crowd, for it was raining hard.",
                "{Fact} she was launched with a jug of cider, as no wine could be found.",
                "The yard at {town} launched her {fact} and sent in its bill the same week.",
                "Launched {fact}, she needed three attempts to leave the slip.",
            ],
            "closers": [
                "Her cook was better known than her captain.",
                "Her timbers ended as the floor of a dance hall.",
                "She ran aground only once, and that was to save a dog.",
                "The crew painted her funnel a different shade whenever the owner was away.",
                "Passengers sat on sacks of flour when the benches were full.",
                "Her bell is rung at weddings.",
            ],
        },
        {
            "lies": "any", "names": ["{town} lantern fair", "{town} kite week", "{town} pear festival", "{town} fiddle gathering",
                                     "{town} goose fair"],
            "questions": ["In which year was the {S} first held?"],
            "openers": [
                "The {S} fills every spare bed for miles around.",
                "Farmers in {county} plan their year around the {S}.",
                "Rain has never stopped the {S}, although it has often tried.",
                "Strangers who come to the {S} are given a paper hat at the gate.",
                "The {S} is noisier than its modest name suggests.",
                "Schools close on the second day of the {S}.",
            ],
            "facts": [
                "It was held for the first time {fact} to cheer people up after a poor harvest.",
                "{Fact} a handful of shopkeepers held the first one in a borrowed barn.",
                "The first took place {fact} and ended in a friendly fight.",
                "Records show that it was first held {fact}, with eleven stalls and a dancing bear made of sacking.",
            ],
            "closers": [
                "The prize is a ham, and the runner-up gets the mustard.",
                "Everything is swept up by breakfast on the Monday.",
                "A committee of nine grandmothers settles all disputes.",
                "Lost children are taken to the baker, who feeds them.",
                "The closing song has far too many verses.",
                "Tickets were once printed on birch bark.",
            ],
        },
    ],
    "person": [
        {
            "lies": "any", "names": ["{town} water tower", "{town} opera house", "{town} covered market", "{town} railway station",
                                     "{town} corn exchange"],
            "questions": ["Who designed the {S}?"],
            "titles": ["the architect", "the engineer", "the stonemason", "the surveyor"],
            "openers": [
                "The {S} has a roof of green slate and a draught that no one has ever cured.",
                "Postcards of the {S} outsell those of the cathedral.",
                "On windy nights the {S} hums like a bottle.",
                "The {S} was meant to be twice as large.",
                "People meet under the clock of the {S} whether or not it is right.",
                "Coach parties cross {county} to see the {S}.",
            ],
            "facts": [
                "It was designed by {fact}, who had never worked on anything bigger than a chapel.",
                "{Fact} designed it in a single winter and asked for no fee.",
                "The drawings, all of them in pencil, are the work of {fact}.",
                "The council gave the design to {fact} after the first plan fell into the river.",
            ],
            "closers": [
                "{family} never saw it finished.",
                "A lane behind it is named after {family}.",
                "Critics called it a teapot, and {family} framed the review.",
                "For the rest of a long life {family} apologised for the windows.",
                "Letters show that {family} wanted a dome.",
                "A small bust of {family} stands in the porch.",
            ],
        },
        {
            "lies": "any", "names": ["{expedition} expedition"],
            "questions": ["Who led the {S}?"],
            "titles": ["Captain", "Admiral", "Professor", "the surveyor", "the botanist"],
            "openers": [
                "The {S} set out from {town} with nine people, forty dogs and a piano.",
                "Very little went as planned on the {S}.",
                "Newspapers followed the {S} day by day.",
                "The {S} was paid for by a maker of ginger biscuits in {town}.",
                "Schoolchildren in {county} sewed a flag for the {S}.",
                "Stamps were printed to mark the return of the {S}.",
            ],
            "facts": [
                "It was led by {fact}, already known for crossing the salt flats on foot.",
                "{Fact} led the party and kept its diary.",
                "At its head went {fact} with a stick and a very small map.",
                "The society chose {fact} to lead it after a stormy meeting.",
            ],
            "closers": [
                "{family} came home two toes short and in excellent spirits.",
                "The lectures that {family} gave afterwards sold out for a year.",
                "A moss found on the way bears the name of {family}.",
                "In the last week {family} carried the youngest member on a sledge.",
                "Without {family} the party would have turned back at the first ridge.",
                "The tent in which {family} slept is now patched with flour bags.",
            ],
        },
        {
            "lies": "any", "names": ["{work}"],
            "questions": ["Who wrote the {S}?"],
            "titles": ["the poet", "the schoolmistress", "Sister", "Doctor"],
            "openers": [
                "The {S} is known by heart in most kitchens of {county}.",
                "It is hard to find a first printing of the {S}.",
                "The {S} was read aloud in {town} on winter evenings.",
                "Three towns claim to be the setting of the {S}.",
                "Teachers complain that the {S} is set far too often.",
                "The {S} caused a small scandal when it appeared.",
            ],
            "facts": [
                "It was written by {fact} on the backs of old tide tables.",
                "{Fact} wrote it in nine nights during a fever.",
                "The author was {fact}, who sold the rights for a cow.",
                "It came from the pen of {fact} and was at first unsigned.",
            ],
            "closers": [
                "{family} disliked the ending and changed it twice.",
                "Readers sent {family} so many jars of jam that a shelf broke.",
                "Nothing else by {family} is remembered.",
                "The desk that {family} used has a burn in the shape of an iron.",
                "Asked what it meant, {family} only laughed.",
                "On the cover of later printings {family} appears with a cat.",
            ],
        },
        {
            "lies": "any", "names": ["{town} rowing club", "{town} botanical garden", "{town} choral society",
                                     "{town} night school", "{town} rescue service"],
            "questions": ["Who founded the {S}?"],
            "titles": ["the schoolmistress", "the apothecary", "Doctor", "Sister", "Professor"],
            "openers": [
                "The {S} has never owned a building of its own.",
                "A collection on market day keeps the {S} alive.",
                "Half the families of {town} have a member in the {S}.",
                "The {S} was at first a joke among friends.",
                "Outsiders are surprised by how strict the {S} can be.",
                "The rules of the {S} fit on one postcard.",
            ],
            "facts": [
                "It was founded by {fact} with six chairs and a stove.",
                "{Fact} founded it after a quarrel with the older club.",
                "Its founder was {fact}, a tireless writer of letters.",
                "The idea and the first money both came from {fact}, who founded it in a wash house.",
            ],
            "closers": [
                "{family} refused to be its president.",
                "Every spring the members drink a toast to {family} in cold tea.",
                "The first rule, which {family} wrote, forbids speeches.",
                "A bench with a view of the weir recalls {family}.",
                "It nearly broke apart when {family} moved away.",
                "Notes in the hand of {family} fill eleven boxes.",
            ],
        },
        {
            "lies": "coast", "names": ["pilot cutter {ship}", "lifeboat {ship}", "racing yawl {ship}"],
            "questions": ["Who built the {S}?"],
            "titles": ["the shipwright", "the boatbuilder"],
            "openers": [
                "The {S} is the last wooden boat of her class.",
                "The {S} still sails from {town} on holidays.",
                "Few boats in {county} have been copied as often as the {S}.",
                "A farmer found the {S} under a heap of straw.",
                "In a light wind the {S} will outrun anything on that coast.",
                "The {S} leans a little to port and always has.",
            ],
            "facts": [
                "She was built by {fact} from larch and stubbornness.",
                "{Fact} built her without drawings in an open field.",
                "Her builder was {fact}, then aged seventy.",
                "She is the work of {fact}, who built her to settle a bet.",
            ],
            "closers": [
                "{family} carved a tiny mouse beneath the tiller.",
                "After her {family} built nothing but furniture.",
                "The tools of {family} are kept in the sail loft.",
                "When asked for a second one {family} shook a mallet at the customer.",
                "Each rib carries a mark that {family} made with a hot spoon.",
                "Her owners and {family} did not speak for ten years.",
            ],
        },
    ],
    "place": [
        {
            "lies": "any", "names": ["Museum of {museum}"],
            "questions": ["Where is the {S}?"],
            "openers": [
                "The {S} is smaller than its fame.",
                "Children are allowed to touch everything in the {S}.",
                "The {S} grew out of one man's attic.",
                "Rival towns have tried to buy the {S}.",
                "On wet afternoons the {S} is full to the doors.",
                "Entry to the {S} costs as much as a bun.",
            ],
            "facts": [
                "It stands in {fact}, next to the old tannery.",
                "Visitors will find it in {fact}.",
                "After years in storage the collection found a home in {fact}.",
                "It opens its doors every day but Tuesday in {fact}, where parking is free.",
            ],
            "closers": [
                "The last room is empty, and nobody will say why.",
                "The guide is a former sea cook with strong opinions.",
                "A stuffed badger guards the till.",
                "There is a catalogue, but it stops at the letter K.",
                "Schools must book before the first snow.",
                "The tea room serves soup in flower pots.",
            ],
        },
        {
            "lies": "any", "names": ["{relic}"],
            "questions": ["Where is the {S} kept?"],
            "openers": [
                "The {S} has been stolen twice and returned twice.",
                "Most islanders know the {S} only from banknotes.",
                "The {S} was found by a boy who was looking for eels.",
                "Scholars have argued about the {S} for generations.",
                "The {S} is heavier than it looks.",
                "There are three copies of the {S}, all of them better preserved than the original.",
            ],
            "facts": [
                "It is kept in {fact}, behind two locked doors.",
                "Since the great fire it has been on view in {fact}.",
                "The government chose to lodge it in {fact}.",
                "A glass case protects it in {fact}, where the air is dry.",
            ],
            "closers": [
                "Dust is removed with a goose feather.",
                "Four people hold a key, and all four must be present.",
                "Photographs are forbidden but common.",
                "Its value has never been put into figures.",
                "On the eve of midsummer it is carried once around the room.",
                "A crack along one side is blamed on a nervous bishop.",
            ],
        },
        {
            "lies": "any", "names": ["Guild of {guild}"],
            "questions": ["Where does the {S} meet?"],
            "openers": [
                "The {S} admits new members on the shortest day of the year.",
                "To join the {S} one must give away a good secret.",
                "The {S} once had the right to close the roads.",
                "Dinners of the {S} are silent until the cheese.",
                "The {S} has outlived all its rivals.",
                "A blue ribbon marks the officers of the {S}.",
            ],
            "facts": [
                "It meets in {fact}, above a bakery.",
                "Four times a year the members gather in {fact}.",
                "Its meetings are held in {fact}, and the public may watch from the stairs.",
                "By custom they assemble in {fact}, however deep the snow.",
            ],
            "closers": [
                "Latecomers pay their fine in candles.",
                "The oldest member pours the ale.",
                "Its archive fits into a single trunk.",
                "Arguments are settled by a race on stilts.",
                "The treasurer is always the one who least wants the post.",
                "Women have led it as often as men.",
            ],
        },
        {
            "lies": "any", "names": ["national {contest} championship"],
            "questions": ["Where is the {S} held?"],
            "openers": [
                "The {S} draws more people than any football match.",
                "Nobody has ever won the {S} three times running.",
                "The rules of the {S} are read out in verse.",
                "Champions of the {S} drink free for a year.",
                "The {S} is taken very seriously by about forty families.",
                "Wind once carried off the trophy of the {S}.",
            ],
            "facts": [
                "It is held in {fact}, on the green behind the church.",
                "Each August competitors travel to take part in {fact}.",
                "The contest has found its lasting home in {fact}.",
                "Judges, cooks and crowds come together in {fact}, and every inn is full.",
            ],
            "closers": [
                "Cheating is punished with a bath in the horse trough.",
                "Left-handed entrants start first.",
                "The youngest winner was not yet nine.",
                "A local dentist keeps the score.",
                "The medal is made of shortbread.",
                "Dogs may enter if they can sign the form.",
            ],
        },
    ],
    "count": [
        {
            "lies": "any", "names": ["{town} watchtower", "{town} chapel", "{town} signal house", "{town} beacon"],
            "things": ["stone steps", "worn steps"],
            "questions": ["How many {thing} lead up to the {S}?"],
            "range": [110, 690], "step": 10,
            "openers": [
                "The {S} sits on a hill that keeps off all but the keenest visitors.",
                "From the {S} one can see the smoke of five villages.",
                "Goats have the {S} to themselves for most of the year.",
                "Nobody lives near the {S} any more.",
                "The view from the {S} appears on every biscuit tin sold in {county}.",
                "Weddings at the {S} are rare, since few guests arrive with any breath left.",
            ],
            "facts": [
                "{Fact} lead up to it from the road.",
                "The climb takes in {fact} and one welcome bench.",
                "Walkers who start at the well must face {fact} before they reach the door.",
                "It is reached by {fact}, none of them level.",
            ],
            "closers": [
                "A rope along the side helps in frost.",
                "Boys used to race up with a live hen under one arm.",
                "The top is always colder than expected.",
                "Moss makes the shady side treacherous.",
                "A kind soul leaves a jug of water at the bend.",
                "Donkeys refuse to go beyond the first turn.",
            ],
        },
        {
            "lies": "any", "names": ["{town} bell tower", "{town} clock tower", "{town} minster", "{town} carillon"],
            "things": ["bells", "bronze bells"],
            "questions": ["How many {thing} hang in the {S}?"],
            "range": [12, 96], "step": 2,
            "openers": [
                "The {S} leans towards the fish market.",
                "Lightning has struck the {S} so often that pigeons avoid it.",
                "On still evenings the {S} is heard across half of {county}.",
                "The {S} was raised by people who wanted to annoy the next town.",
                "Ringers at the {S} wear felt slippers.",
                "A family of owls lives in the {S}.",
            ],
            "facts": [
                "{Fact} hang in it, each with a name of its own.",
                "It holds {fact}, cast from melted cannon.",
                "Behind the louvres hang {fact} on beams of oak.",
                "The ringers look after {fact} and complain about every one.",
            ],
            "closers": [
                "The largest is called Old Porridge.",
                "One has a crack and is rung only for tax collectors.",
                "Practice night empties the inn next door.",
                "The ropes are renewed after each harvest.",
                "A cradle was once hung among them during a siege.",
                "The caretaker is, perhaps luckily, deaf.",
            ],
        },
        {
            "lies": "any", "names": ["{town} map room", "{town} reading room", "{town} town archive", "{town} music cabinet"],
            "things": ["charts", "letters", "ledgers", "notebooks", "albums", "rolled plans"],
            "questions": ["How many {thing} are kept in the {S}?"],
            "range": [130, 960], "step": 10,
            "openers": [
                "The {S} is open to anyone with clean hands.",
                "Mice have done more harm to the {S} than war.",
                "The {S} was saved from a bonfire by a cleaner.",
                "A single bulb lights the {S}.",
                "The {S} smells of glue and apples.",
                "Researchers book the {S} months ahead.",
            ],
            "facts": [
                "{Fact} are kept there in flat drawers.",
                "Its shelves hold {fact}, most of them without a label.",
                "The last stocktaking found {fact} and a sandwich.",
                "It looks after {fact} that were given by local families.",
            ],
            "closers": [
                "The catalogue is written in green ink throughout.",
                "Nothing may be borrowed, not even by the mayor.",
                "A draught from the cellar keeps everything dry.",
                "Readers must leave their umbrellas with the porter.",
                "The oldest item is too fragile to unfold.",
                "Work on a better roof begins every year and never ends.",
            ],
        },
        {
            "lies": "any", "names": ["{town} customs house", "{town} granary", "{town} almshouse", "{town} cloth hall"],
            "things": ["windows", "rooms", "chimneys", "oak doors", "cellars"],
            "questions": ["How many {thing} does the {S} have?"],
            "range": [14, 98], "step": 2,
            "openers": [
                "The {S} takes up one whole side of the square.",
                "The {S} is said to be haunted by a clerk.",
                "Every stranger who asks the way in {town} is told to start from the {S}.",
                "The {S} has been sold for one coin on two occasions.",
                "Snow slides off the {S} without warning.",
                "No two walls of the {S} are parallel.",
            ],
            "facts": [
                "It has {fact}, which makes it dear to heat.",
                "{Fact} give it the look of a ship in port.",
                "A survey counted {fact}, not all of them in use.",
                "Builders gave it {fact} at a time when such things were taxed.",
            ],
            "closers": [
                "Spring cleaning lasts into June.",
                "The plaster is mixed with horsehair and, some say, with ale.",
                "A weathercock in the form of a pike tops the gable.",
                "The ground floor is let to a maker of trumpets.",
                "Bats are protected there by an ancient promise.",
                "The rent is still paid in eggs.",
            ],
        },
        {
            "lies": "coast", "names": ["{town} herring fleet", "{town} mussel cooperative", "{town} sailing club", "{town} pilots' union"],
            "things": ["boats", "open boats", "rowing boats", "tarred boats"],
            "questions": ["How many {thing} belong to the {S}?"],
            "range": [16, 98], "step": 2,
            "openers": [
                "The {S} has its office in a hut on wheels.",
                "Prices along the coast are set by the {S}.",
                "Members of the {S} paint their doors yellow.",
                "The {S} keeps a cat on its payroll.",
                "In a good season the {S} feeds the whole of {county}.",
                "The {S} was the first to hire women as skippers.",
            ],
            "facts": [
                "{Fact} belong to it, and every one is insured.",
                "It can call on {fact} in an emergency.",
                "The books list {fact} among its property.",
                "At the last blessing the priest counted {fact} and one raft.",
            ],
            "closers": [
                "Widows of members are given coal.",
                "The yearly dance lasts until the ebb.",
                "It has never lost a case in court.",
                "A flag at half mast means that dinner is ready.",
                "Nobody may whistle on its quay.",
                "Repairs are done in the week after Christmas.",
            ],
        },
    ],
    "object": [
        {
            "lies": "any", "names": ["seal of {town}", "old coin of {town}", "banner of {town}", "medal of {town}", "penny stamp of {town}"],
            "questions": ["Which object is shown on the {S}?", "Which object appears on the {S}?", "What is shown on the {S}?",
                          "What does the {S} show?"],
            "openers": [
                "The {S} was redrawn after the flood by an artist who had never been there.",
                "Collectors pay absurd sums for the {S}.",
                "Opinions differ as to the meaning of the {S}.",
                "The {S} can be seen in the hall of the county office.",
                "A faded print of the {S} hangs in the schoolroom.",
                "The {S} has been forged so often that fakes have a market of their own.",
                "Officials of {county} still argue over the {S}.",
                "The {S} is older than the town's charter.",
            ],
            "batches": [
                "At the summer fair, stalls sell boxes of {plural} no bigger than a thumb.",
                "Bakers mark the day with trays of {plural} made of gingerbread.",
                "Newly married couples are given pairs of {plural} for luck.",
                "Children hang strings of {plural}, cut from paper, across the lane.",
                "Shop windows are filled with rows of {plural} every autumn.",
                "Tourists carry home sets of {plural} wrapped in newspaper.",
            ],
            "captions": [
                "The caption of the plate reads: a plain shield with {fact}.",
                "Under the picture is printed: round design, showing {fact}.",
                "A label explains that the drawing shows {fact}.",
                "According to the caption it bears {fact}.",
            ],
        },
        {
            "lies": "any", "names": ["inn sign of the {town} coach house", "weathervane of the {town} town hall", "painted panel of the {town} baths",
                                     "shop sign of the {town} apothecary"],
            "questions": ["Which object is shown on the {S}?", "Which object appears on the {S}?", "What is shown on the {S}?",
                          "What does the {S} show?"],
            "openers": [
                "The {S} was made by a blacksmith who could not read.",
                "Pilgrims used to bow to the {S} by mistake.",
                "The {S} was hidden in a hayloft during the war.",
                "Restorers spent two winters on the {S}.",
                "A copy of the {S} stands in a garden in {county}.",
                "The {S} is best seen in the low light of evening.",
                "Frost has taken the left half of the {S}, though early sketches survive.",
                "The {S} gave the street its nickname.",
            ],
            "batches": [
                "A nearby workshop turns out sets of {plural} for visitors.",
                "Every house in the street keeps rows of {plural} on the window sill.",
                "The winner of the raffle takes home boxes of {plural}.",
                "Grandmothers embroider pairs of {plural} along the hems of tablecloths.",
                "In December the square is decorated with strings of {plural}.",
                "Confectioners cast trays of {plural} in dark chocolate.",
            ],
            "captions": [
                "The caption in the guidebook says: {fact}.",
                "Caption: early work, showing {fact}.",
                "A card beside it describes the design as {fact}.",
                "The oldest sketch of it shows {fact}.",
            ],
        },
    ],
    "edition": [
        {
            "lies": "any", "names": ["{town} tramcars", "{town} post vans", "{town} town band", "{town} night watch"], "attribute": "colour",
        },
        {
            "lies": "any", "names": ["{town} grain silo", "{town} radio tower", "{town} shot tower", "{town} cathedral spire"], "attribute": "height",
            "unit": "metres", "range": [38, 190],
        },
        {
            "lies": "any", "names": ["{town} fire brigade", "{town} grammar school", "{town} weavers' union", "{town} mountain rescue"],
            "attribute": "motto",
        },
        {
            "lies": "any", "names": ["{town} promenade", "{town} canal tunnel", "{town} town wall", "{town} rope walk"], "attribute": "length",
            "unit": "metres", "range": [300, 990],
        },
    ],
    "river": [
        {
            "lies": "inland", "names": ["{town} abbey", "{town} cattle market", "{town} brickworks", "{town} racecourse"], "verb": "runs past",
            "openers": [
                "Monks, drovers and poachers have all used the same path here.",
                "The neighbourhood is quiet except in the first week of May.",
                "Anglers know the spot well and keep it to themselves.",
                "In dry summers the meadows turn the shade of toast.",
                "Carters rest their horses under a row of limes.",
                "An old milestone gives distances in hours.",
                "Blackberries grow thick along the fence.",
                "Every winter a bonfire is lit to keep the frost off the pears.",
            ],
        },
        {
            "lies": "inland", "names": ["village of {town}", "lower town of {town}", "deer park of {town}", "old quarter of {town}"],
            "verb": "flows through",
            "openers": [
                "Stepping stones were laid by a widow who hated wet shoes.",
                "Ducks have right of way on every lane.",
                "Alder and willow shade both banks.",
                "Until the drains were laid, cellars flooded each spring.",
                "Most front doors are painted the green of young peas.",
                "A rowing match between bakers and butchers is held in June.",
                "Painters rent the attics for the light.",
                "The oldest houses stand on stilts of oak.",
            ],
        },
        {
            "lies": "inland", "names": ["{town} paper mill", "{town} sawmill", "{town} fulling mill", "{town} flour mill"], "verb": "drives",
            "openers": [
                "The great wheel was rebuilt in elm and turns without a squeak.",
                "Millers there have been called Tom for two centuries, whatever their real names.",
                "Steam never paid in this valley, for water cost nothing.",
                "A leat lined with clay carries the water for the last stretch.",
                "Flour, paper or planks, everything there tastes of damp.",
                "The mill cat has a chair of its own.",
                "Two millstones lean against the yard wall like coins.",
                "Work stops at noon, when the sluice is closed.",
            ],
        },
        {
            "lies": "inland", "names": ["viaduct at {town}", "packhorse bridge at {town}", "covered bridge at {town}", "aqueduct at {town}"],
            "verb": "passes under",
            "openers": [
                "Engineers admire the slender piers and worry about the ice.",
                "A stone head on the keystone is said to spit before a flood.",
                "Trains slow down here so that passengers can look.",
                "Herons stand in the shallows from dawn.",
                "The masons left a bottle of plum brandy in the wall.",
                "Echoes come back four times from the middle arch.",
                "Lovers leave padlocks, and the council removes them.",
                "Every stone was floated here on rafts.",
            ],
        },
    ],
}

# Edition passages: two books of different years disagree about one attribute of {S}. {year} stands right before "edition".
EDITION_FACTS = [
    "The {year} edition of {book} gives the {attribute} of the {S} as {value}.",
    "According to the {year} edition of {book}, the {attribute} of the {S} is {value}.",
    "In the {year} edition of {book} the {attribute} of the {S} is entered as {value}.",
    "As far as the {year} edition of {book} goes, the official {attribute} of the {S} is {value}.",
]
EDITION_OPENERS = [
    "Reference works of the island are cheap, thick and not always kind to the reader.",
    "The committee met for three days before anything was put on paper.",
    "People in {county} like to look things up and then argue anyway.",
    "An official entry has to be signed by two clerks.",
    "The compilers wrote to every parish and received a great many cakes.",
    "Copies were sent to all the schools of {county}.",
    "The entry for {town} runs to half a column.",
    "Corrections were sent in on postcards by a retired harbour master.",
    "Few books are lent out as often as this one.",
    "A surveyor's boy carried the figures and descriptions to the capital on foot.",
    "Visitors to {town} tend to believe whatever is in print.",
    "Every household in {county} received a copy with the winter coal.",
    "The editors, two sisters, never left their house.",
    "Much in it was taken from letters to the bishop.",
    "Schoolmasters in {town} read such entries aloud as dictation.",
    "The volume was paid for by a tax on playing cards.",
]
EDITION_CLOSERS = [
    "The page has a drawing of a heron in the margin.",
    "A footnote thanks the town clerk for his patience.",
    "Librarians keep it behind the desk.",
    "The printer set the line in small capitals.",
    "Nobody has yet written in to object.",
    "The same page lists the local doctors.",
    "An advertisement for boot polish fills the rest of the sheet.",
    "The binding is of sailcloth.",
    "Someone has underlined the sentence in red pencil.",
    "The index puts it under a wrong heading.",
    "A pressed fern marks the place in the copy at {town}.",
    "It cost less than a loaf of bread.",
    "Below it comes a long list of market days.",
    "The paper is thin enough to read through.",
    "Travellers used to tear the page out.",
    "The council of {town} bought thirty copies.",
]

RIVER_FACTS = [
    "The {river} {verb} the {S} and joins the sea two days' walk to the south.",
    "Brown with peat, the {river} {verb} the {S}.",
    "It is the {river} that {verb} the {S}, whatever strangers may say.",
    "The {river}, which rises among high bogs, {verb} the {S}.",
]
RIVER_CLOSERS = [
    "Otters have come back after a long absence.",
    "In hard frosts the children skate as far as the weir.",
    "Salmon are counted by a man in a hut.",
    "The water tastes faintly of iron.",
    "A wooden gauge shows the great flood as a red line.",
    "Punts can be hired from Whitsun onwards.",
    "Washing is still laid out on the gravel to bleach.",
    "The reeds are cut for thatch each winter.",
    "Eels from this stretch are smoked over apple wood.",
    "After heavy rain one can hear the stones move.",
    "A painter lived for years in a boat moored to the bank.",
    "Boys dive for coins on the first warm Sunday.",
    "No fish longer than a hand may be kept.",
    "A ghost in wet boots is said to walk the towpath.",
    "Cattle are watered at a ramp of blue brick.",
    "Mist lies there until the middle of the morning.",
]
