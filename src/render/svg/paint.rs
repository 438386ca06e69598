//! Which class has which colour, and how its bands look.

use std::fmt::Write;

use cotenant_compiler::plan::Placement;
use cotenant_compiler::{CpuId, Plan};

use crate::render::gate;

/// Okabe and Ito's colours without black.
const COLOURS: [&str; 7] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];

/// For classes beyond these: a picture of more colours cannot be read.
const FURTHER: &str = "#7a828e";

/// For CPUs that no class may use.
pub(super) const NOBODY: &str = "#e4e7ec";

/// The classes that are placed, with colours.
pub(super) struct Palette<'a> {
    classes: Vec<(usize, &'a Placement)>,
    most: usize,
}

/// A class's share of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Band {
    /// Position of the class in the plan.
    class: usize,
    colour: usize,
    /// Not among the CPUs that are filled first.
    overflow: bool,
    gated: bool,
}

impl<'a> Palette<'a> {
    pub(super) fn of(plan: &'a Plan) -> Palette<'a> {
        let placed = plan.classes.iter().enumerate().filter_map(|(at, class)| Some((at, class.placement.as_ref()?)));
        let mut palette = Palette { classes: placed.collect(), most: 0 };
        palette.most = plan.topology.online().iter().map(|cpu| palette.bands(cpu).len()).max().unwrap_or(0);
        palette
    }

    /// The most bands any CPU has.
    pub(super) fn most_bands(&self) -> usize {
        self.most
    }

    /// The bands of a CPU, in matching order. Classes beyond the colours share one.
    pub(super) fn bands(&self, cpu: CpuId) -> Vec<Band> {
        let mut bands: Vec<Band> = Vec::new();
        for (colour, (class, placement)) in self.classes.iter().enumerate() {
            let Some(tier) = placement.tiers.iter().position(|tier| tier.contains(cpu)) else { continue };
            let band = Band {
                class: *class,
                colour: colour.min(COLOURS.len()),
                overflow: tier > 0,
                gated: placement.gate.is_some(),
            };
            let shared = band.colour == COLOURS.len();
            if !(shared && bands.iter().any(|it| it.colour == band.colour)) {
                bands.push(band);
            }
        }
        bands
    }

    /// The bands that the legend shows for a class: one for each look it has in the picture.
    pub(super) fn samples(&self, class: usize) -> Vec<Band> {
        let Some(colour) = self.classes.iter().position(|(at, _)| *at == class) else { return Vec::new() };
        let Some((_, placement)) = self.classes.get(colour) else { return Vec::new() };
        let sample = |tier: usize| Band {
            class,
            colour: colour.min(COLOURS.len()),
            overflow: tier > 0,
            gated: placement.gate.is_some(),
        };
        (0..placement.tiers.len().min(2)).map(sample).collect()
    }

    /// Definitions of every look that is no plain colour.
    pub(super) fn patterns(&self) -> String {
        let mut defined = String::new();
        let colours = COLOURS.iter().chain([&FURTHER]).enumerate().take(self.classes.len());
        for (colour, fill) in colours {
            for (overflow, gated) in [(true, false), (false, true), (true, true)] {
                let band = Band { class: 0, colour, overflow, gated };
                let _ = writeln!(defined, "{}", pattern(band, fill));
            }
        }
        defined
    }
}

/// Overflow is hatched on a pale ground, what waits for an idle core is dotted with white.
fn pattern(band: Band, colour: &str) -> String {
    let (ground, lines) = match band.overflow {
        true => {
            ("0.2", format!("<path d=\"M-2,2 L2,-2 M0,9 L9,0 M7,11 L11,7\" stroke=\"{colour}\" stroke-width=\"2.6\"/>"))
        }
        false => ("1", String::new()),
    };
    let dots = if band.gated { "<circle cx=\"4.5\" cy=\"4.5\" r=\"1.7\" fill=\"#ffffff\"/>" } else { "" };
    format!(
        "<pattern id=\"{}\" width=\"9\" height=\"9\" patternUnits=\"userSpaceOnUse\"><rect width=\"9\" height=\"9\" \
         fill=\"#ffffff\"/><rect width=\"9\" height=\"9\" fill=\"{colour}\" fill-opacity=\"{ground}\"/>{lines}{dots}</pattern>",
        band.id()
    )
}

impl Band {
    fn id(self) -> String {
        let overflow = if self.overflow { "h" } else { "" };
        let gated = if self.gated { "d" } else { "" };
        format!("c{}{overflow}{gated}", self.colour)
    }

    /// How it is painted.
    pub(super) fn fill(self) -> String {
        match (self.overflow, self.gated) {
            (false, false) => COLOURS.get(self.colour).copied().unwrap_or(FURTHER).to_owned(),
            _ => format!("url(#{})", self.id()),
        }
    }

    /// Whether it is hatched.
    pub(super) fn is_overflow(self) -> bool {
        self.overflow
    }

    /// What it means: `web, as overflow`.
    pub(super) fn words(self, plan: &Plan) -> String {
        let Some(class) = plan.classes.get(self.class) else { return String::new() };
        let mut said = class.name.clone();
        if self.overflow {
            said.push_str(", as overflow");
        }
        if let Some(condition) = class.placement.as_ref().and_then(|it| it.gate) {
            said.push_str(&format!(", {}", gate(condition)));
        }
        said
    }
}
